# What `cmake --install` leaves: the library, its headers, the command, package files for CMake and pkg-config, documents.
# The tree can be moved after installation: run paths and package files are relative.
include(CMakePackageConfigHelpers)

set(berth_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/berth)

install(TARGETS berth EXPORT berth-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS berth_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET berth_cuda)
  # Loaded at run time from beside libberth.so; nobody links it.
  set_target_properties(berth_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS berth_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
endif()

# Until 1.0 a minor version may break users.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(berth_compatibility SameMinorVersion)
else()
  set(berth_compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/berth-config-version.cmake COMPATIBILITY ${berth_compatibility})
configure_package_config_file(cmake/berth-config.cmake.in ${PROJECT_BINARY_DIR}/berth-config.cmake
  INSTALL_DESTINATION ${berth_package_dir})
install(EXPORT berth-targets NAMESPACE berth:: DESTINATION ${berth_package_dir})
install(FILES ${PROJECT_BINARY_DIR}/berth-config.cmake ${PROJECT_BINARY_DIR}/berth-config-version.cmake
  DESTINATION ${berth_package_dir})

# From lib/pkgconfig back to the prefix, however deep lib is.
file(RELATIVE_PATH berth_prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/berth.pc.in ${PROJECT_BINARY_DIR}/berth.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/berth.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The pages lie beside each other as in the source, with what they link to, so that their links and first commands work there too.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY data/demo data/schemas DESTINATION ${CMAKE_INSTALL_DOCDIR}/data)
install(FILES data/SOURCES.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/data)
install(FILES bench/defaults.hpp DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(DIRECTORY bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
# The headers are installed already.
file(RELATIVE_PATH berth_headers_from_docs ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/docs-link)
file(CREATE_LINK ${berth_headers_from_docs} ${PROJECT_BINARY_DIR}/docs-link/include SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/docs-link/include DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/man/berth.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES scripts/completion/berth.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME berth)
