# Targets: ebbtide::ebbtide, the shared library, and ebbtide::static; on Linux also ebbtide::new, the
# operators new and delete of transparent arenas.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(_ebbtide_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_ebbtide_lib "${_ebbtide_prefix}/lib")
set(_ebbtide_static "${_ebbtide_lib}/libebbtide.a")
set(_ebbtide_needs "Threads::Threads;${CMAKE_DL_LIBS};m")
if(WIN32)
  set(_ebbtide_shared "${_ebbtide_prefix}/bin/ebbtide_capi.dll")
  set(_ebbtide_import "${_ebbtide_lib}/libebbtide.dll.a")
  set(_ebbtide_needs "ws2_32;userenv;ntdll;bcrypt")
  if(MSVC)
    set(_ebbtide_static "${_ebbtide_lib}/ebbtide_static.lib")
    set(_ebbtide_import "${_ebbtide_lib}/ebbtide.lib")
  endif()
elseif(APPLE)
  set(_ebbtide_shared "${_ebbtide_lib}/libebbtide.0.dylib")
  set(_ebbtide_soname "@rpath/libebbtide.0.dylib")
else()
  set(_ebbtide_shared "${_ebbtide_lib}/libebbtide.so.@VERSION@")
  set(_ebbtide_soname "libebbtide.so.0")
endif()

# The shared library may be left out.
if(NOT TARGET ebbtide::ebbtide AND EXISTS "${_ebbtide_shared}")
  add_library(ebbtide::ebbtide SHARED IMPORTED)
  set_target_properties(ebbtide::ebbtide PROPERTIES
    IMPORTED_LOCATION "${_ebbtide_shared}"
    INTERFACE_INCLUDE_DIRECTORIES "${_ebbtide_prefix}/include")
  if(WIN32)
    set_target_properties(ebbtide::ebbtide PROPERTIES IMPORTED_IMPLIB "${_ebbtide_import}")
  else()
    set_target_properties(ebbtide::ebbtide PROPERTIES IMPORTED_SONAME "${_ebbtide_soname}")
  endif()
endif()

if(NOT TARGET ebbtide::static)
  add_library(ebbtide::static STATIC IMPORTED)
  set_target_properties(ebbtide::static PROPERTIES
    IMPORTED_LOCATION "${_ebbtide_static}"
    INTERFACE_INCLUDE_DIRECTORIES "${_ebbtide_prefix}/include"
    INTERFACE_LINK_LIBRARIES "${_ebbtide_needs}")
endif()

if(NOT TARGET ebbtide::new AND EXISTS "${_ebbtide_lib}/libebbtide_new.a")
  add_library(ebbtide::new STATIC IMPORTED)
  set_target_properties(ebbtide::new PROPERTIES
    IMPORTED_LOCATION "${_ebbtide_lib}/libebbtide_new.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_ebbtide_prefix}/include"
    INTERFACE_LINK_LIBRARIES "${_ebbtide_lib}/libebbtide_new_engine.a;${_ebbtide_needs}")
endif()

foreach(name prefix lib static shared soname import needs)
  unset(_ebbtide_${name})
endforeach()
