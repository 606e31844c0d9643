# BERTH_POLICIES: FOLDER/NAME of each line of host/policy/base/policies.def.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/policy/base/policies.def)
file(STRINGS ${PROJECT_SOURCE_DIR}/host/policy/base/policies.def BERTH_POLICIES REGEX "^POLICY")
list(TRANSFORM BERTH_POLICIES REPLACE "^POLICY\\(([a-z_]+), ([a-z_0-9]+)\\)$" "\\1/\\2")
