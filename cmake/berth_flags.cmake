# Compile options of every file of this project; never exported to users.
add_library(berth_build_flags INTERFACE)
target_compile_options(berth_build_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wshadow;-Werror;-ffp-contract=off>
  # g++ 12 reports overlaps in std::string that do not exist (GCC bug 105651)
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  # -std by hand: CMake 3.25 does not know C++20 for nvcc 13
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false;-Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Werror,-ffp-contract=off>)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # Placement mostly counts bits; every x86 machine since 2009 has the instruction.
  target_compile_options(berth_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v2>)
endif()
if(BERTH_FUZZ)
  # Records code coverage, for the targets of tests/fuzz.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=fuzzer-no-link>)
endif()
if(BERTH_SANITIZE)
  # For all code: tests and libraries built here.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=${BERTH_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize-recover=all>)
  if(BERTH_SANITIZE MATCHES "undefined")
    # The address sanitizer or a crash shows these anyway, and checks at every pointer take half of the compile time.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize=null,alignment,vptr,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute>)
  endif()
  add_link_options(-fsanitize=${BERTH_SANITIZE})
  # With a sanitizer g++ 12 reports uninitialised members in std::regex that do not exist (GCC bug 105562).
  target_compile_options(berth_build_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
endif()
