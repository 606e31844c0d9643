# MiniZip::minizip: the zip reader of zlib's own tree. It has no package file for CMake.
find_path(MiniZip_INCLUDE_DIR minizip/unzip.h)
find_library(MiniZip_LIBRARY minizip)
mark_as_advanced(MiniZip_INCLUDE_DIR MiniZip_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MiniZip REQUIRED_VARS MiniZip_LIBRARY MiniZip_INCLUDE_DIR)
if(MiniZip_FOUND AND NOT TARGET MiniZip::minizip)
  add_library(MiniZip::minizip UNKNOWN IMPORTED)
  set_target_properties(MiniZip::minizip PROPERTIES IMPORTED_LOCATION ${MiniZip_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${MiniZip_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES ZLIB::ZLIB)
endif()
