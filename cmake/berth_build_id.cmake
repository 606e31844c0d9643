# berth/build_id.hpp: version and a hash of every header that libberth and libberth_cuda must agree on, so that a library
# from another build is rejected. Changing such a header configures again.
file(GLOB_RECURSE BERTH_SHARED_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/berth/kernel/*.hpp)
list(APPEND BERTH_SHARED_HEADERS ${PROJECT_SOURCE_DIR}/include/berth/units.hpp ${PROJECT_SOURCE_DIR}/host/backend/cuda_abi.hpp)
list(SORT BERTH_SHARED_HEADERS)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${BERTH_SHARED_HEADERS})
set(BERTH_HEADER_HASHES "")
foreach(header IN LISTS BERTH_SHARED_HEADERS)
  file(SHA256 ${header} hash)
  string(APPEND BERTH_HEADER_HASHES ${hash})
endforeach()
string(SHA256 BERTH_HEADER_HASH "${BERTH_HEADER_HASHES}")
string(SUBSTRING ${BERTH_HEADER_HASH} 0 16 BERTH_HEADER_HASH)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/berth/build_id.hpp CONTENT
"#pragma once

/// Equal in libberth and the libberth_cuda that fits it.
#define BERTH_BUILD_ID \"${PROJECT_VERSION}-${BERTH_HEADER_HASH}\"
" @ONLY)
