include(CMakePackageConfigHelpers)
install(TARGETS ddsc ddsc_static EXPORT ddscTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET ddsc_program)
  install(TARGETS ddsc_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES include/ddsc/ddsc.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ddsc)
install(EXPORT ddscTargets NAMESPACE ddsc:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ddsc)
configure_package_config_file(cmake/ddscConfig.cmake.in ddscConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ddsc)
write_basic_package_version_file(ddscConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ddscConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/ddscConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ddsc)
# The pkg-config file finds the rest by its own place, so an installed tree can be moved.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(DDSC_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(DDSC_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(DDSC_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(DDSC_PC_PREFIX "\${pcfiledir}/${up}")
  set(DDSC_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(DDSC_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
list(TRANSFORM DDSC_STATIC_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE DDSC_PC_PRIVATE)
list(JOIN DDSC_PC_PRIVATE " " DDSC_PC_PRIVATE)
configure_file(cmake/ddsc.pc.in ddsc.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ddsc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(GLOB DDSC_MAN_PAGES man/*.1 man/*.3)
install(FILES ${DDSC_MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# Completion scripts come out of the program itself, so they know every option it has; one for another processor
# runs where the toolchain names an emulator.
if(TARGET ddsc_program AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
  set(completions ${CMAKE_BINARY_DIR}/completions)
  add_custom_command(TARGET ddsc_program POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
    COMMAND ddsc_program completion bash > ${completions}/ddsc
    COMMAND ddsc_program completion zsh > ${completions}/_ddsc
    COMMAND ddsc_program completion fish > ${completions}/ddsc.fish VERBATIM)
  install(FILES ${completions}/ddsc DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completions}/_ddsc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completions}/ddsc.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
