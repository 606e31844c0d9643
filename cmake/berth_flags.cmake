# What every file of ours is compiled with; never exported to users.
add_library(berth_build_flags INTERFACE)
target_compile_options(berth_build_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wshadow;-Werror;-ffp-contract=off>
  # g++ 12 sees overlaps in std::string that are not there (GCC bug 105651)
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  # -std by hand: CMake 3.25 does not know C++20 for nvcc 13
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false;-Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Werror,-ffp-contract=off>)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # Counting bits is what placing does most; every x86 machine since 2009 has the instruction.
  target_compile_options(berth_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v2>)
endif()
if(BERTH_FUZZ)
  # Counts which code ran, for the targets of tests/fuzz.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=fuzzer-no-link>)
endif()
if(BERTH_SANITIZE)
  # Of all code, tests and libraries built here alike.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=${BERTH_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize-recover=all>)
  if(BERTH_SANITIZE MATCHES "undefined")
    # What the address sanitizer or a crash shows anyhow; checked at every pointer, it takes half of the time to compile.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize=null,alignment,vptr,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute>)
  endif()
  add_link_options(-fsanitize=${BERTH_SANITIZE})
  # With a sanitizer g++ 12 sees uninitialised members in std::regex that are not there (GCC bug 105562).
  target_compile_options(berth_build_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
endif()
