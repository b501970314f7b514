# Targets: ebbtide::ebbtide, the shared library, and ebbtide::static; ebbtide::new, the operators new
# and delete of transparent arenas.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(_ebbtide_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET ebbtide::ebbtide)
  add_library(ebbtide::ebbtide SHARED IMPORTED)
  set_target_properties(ebbtide::ebbtide PROPERTIES
    IMPORTED_LOCATION "${_ebbtide_prefix}/lib/libebbtide.so.@VERSION@"
    IMPORTED_SONAME "libebbtide.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_ebbtide_prefix}/include")
endif()

if(NOT TARGET ebbtide::static)
  add_library(ebbtide::static STATIC IMPORTED)
  set_target_properties(ebbtide::static PROPERTIES
    IMPORTED_LOCATION "${_ebbtide_prefix}/lib/libebbtide.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_ebbtide_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()

if(NOT TARGET ebbtide::new)
  add_library(ebbtide::new STATIC IMPORTED)
  set_target_properties(ebbtide::new PROPERTIES
    IMPORTED_LOCATION "${_ebbtide_prefix}/lib/libebbtide_new.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_ebbtide_prefix}/include"
    INTERFACE_LINK_LIBRARIES
      "${_ebbtide_prefix}/lib/libebbtide_new_engine.a;Threads::Threads;${CMAKE_DL_LIBS};m")
endif()

unset(_ebbtide_prefix)
