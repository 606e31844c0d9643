# libberth.so: the library that users link.
add_library(berth SHARED)
add_library(berth::berth ALIAS berth)
target_compile_features(berth PUBLIC cxx_std_20)
target_link_libraries(berth PRIVATE $<BUILD_INTERFACE:berth_objects>)
# Until 1.0 a minor version may be incompatible, so it is part of the SONAME.
set(berth_soversion ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(berth_soversion 0.${PROJECT_VERSION_MINOR})
endif()
target_link_options(berth PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/berth.map)
set_target_properties(berth PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${berth_soversion}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/berth.map
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN")
target_sources(berth PUBLIC FILE_SET HEADERS
  BASE_DIRS ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include
  FILES
    include/berth/cluster.hpp
    include/berth/delta.hpp
    include/berth/engine.hpp
    include/berth/error.hpp
    include/berth/events.hpp
    include/berth/export.hpp
    include/berth/forecast.hpp
    include/berth/io.hpp
    include/berth/job.hpp
    include/berth/overheads.hpp
    include/berth/placement.hpp
    include/berth/plan.hpp
    include/berth/profile.hpp
    include/berth/queues.hpp
    include/berth/snapshot.hpp
    include/berth/state.hpp
    include/berth/trace.hpp
    include/berth/units.hpp
    include/berth/what_if.hpp
    ${PROJECT_BINARY_DIR}/include/berth/version.hpp)
set_target_properties(berth PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
