# What `cmake --install` installs: the libraries, their headers, the command, package files for CMake and pkg-config, documents.
# The tree can be moved after installation: run paths and package files are relative.
# Components: runtime (to plan with), dev (to build programs), bundled (third-party libraries, for self-contained archives).
include(CMakePackageConfigHelpers)

set(berth_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/berth)

install(TARGETS berth EXPORT berth-cpp-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(TARGETS berth_c EXPORT berth-c-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(TARGETS berth_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
if(TARGET berth_cuda)
  # Loaded at run time from the folder of libberth.so; no program links it.
  set_target_properties(berth_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS berth_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_SKIP)
endif()

# Until 1.0 a minor version may be incompatible.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(berth_compatibility SameMinorVersion)
else()
  set(berth_compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/berth-config-version.cmake COMPATIBILITY ${berth_compatibility})
configure_package_config_file(cmake/berth-config.cmake.in ${PROJECT_BINARY_DIR}/berth-config.cmake
  INSTALL_DESTINATION ${berth_package_dir})
install(EXPORT berth-cpp-targets NAMESPACE berth:: DESTINATION ${berth_package_dir} COMPONENT dev)
install(EXPORT berth-c-targets NAMESPACE berth:: DESTINATION ${berth_package_dir} COMPONENT dev)
install(FILES ${PROJECT_BINARY_DIR}/berth-config.cmake ${PROJECT_BINARY_DIR}/berth-config-version.cmake
  DESTINATION ${berth_package_dir} COMPONENT dev)

# From lib/pkgconfig back to the prefix, however deep lib is.
file(RELATIVE_PATH berth_prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/berth.pc.in ${PROJECT_BINARY_DIR}/berth.pc @ONLY)
configure_file(cmake/berth_c.pc.in ${PROJECT_BINARY_DIR}/berth_c.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/berth.pc ${PROJECT_BINARY_DIR}/berth_c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# The pages keep the layout of the source, with their link targets, so that their links and first commands work there too.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)
install(DIRECTORY data/demo data/schemas DESTINATION ${CMAKE_INSTALL_DOCDIR}/data COMPONENT runtime)
install(FILES data/SOURCES.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/data COMPONENT runtime)
install(FILES bench/defaults.hpp DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT runtime)
install(DIRECTORY bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT runtime)
# The headers are installed already.
file(RELATIVE_PATH berth_headers_from_docs ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH berth_headers_from_c ${CMAKE_INSTALL_FULL_DOCDIR}/python-free-bindings/c ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/docs-link/c)
file(CREATE_LINK ${berth_headers_from_docs} ${PROJECT_BINARY_DIR}/docs-link/include SYMBOLIC)
file(CREATE_LINK ${berth_headers_from_c} ${PROJECT_BINARY_DIR}/docs-link/c/include SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/docs-link/include DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)
install(FILES ${PROJECT_BINARY_DIR}/docs-link/c/include DESTINATION ${CMAKE_INSTALL_DOCDIR}/python-free-bindings/c COMPONENT dev)
install(FILES docs/man/berth.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(FILES scripts/completion/berth.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME berth COMPONENT runtime)
