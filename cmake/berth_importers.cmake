# BERTH_IMPORTERS: FOLDER/import_NAME of each line of host/io/traces/importers.def.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/io/traces/importers.def)
file(STRINGS ${PROJECT_SOURCE_DIR}/host/io/traces/importers.def BERTH_IMPORTERS REGEX "^IMPORTER")
list(TRANSFORM BERTH_IMPORTERS REPLACE "^IMPORTER\\(([a-z_]+), ([a-z_0-9]+)\\)$" "\\1/import_\\2")
