# Overlay port for this repository: `vcpkg install ebbtide --overlay-ports=packaging/vcpkg`. Cargo and,
# on Linux, binutils must be installed.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(CARGO cargo HINTS $ENV{HOME}/.cargo/bin REQUIRED)

set(OPTIONS --strip)
if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
  list(APPEND OPTIONS --static)
endif()
vcpkg_execute_required_process(
  COMMAND ${CMAKE_COMMAND} -E env CARGO_TARGET_DIR=${CURRENT_BUILDTREES_DIR}/cargo
          ${CARGO} xtask dist ${OPTIONS} ${CURRENT_PACKAGES_DIR}
  WORKING_DIRECTORY ${SOURCE_PATH}
  LOGNAME dist-${TARGET_TRIPLET})
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE-MIT ${SOURCE_PATH}/LICENSE-APACHE)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")

# One build serves both configurations. The package of CMake finds its files from where it is.
set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)
