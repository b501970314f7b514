/* Included before an example of examples/hooks: the library keeps the C library's allocator. */
#include "ebbtide_hooks.h"

static inline void *system_alloc(void *data, void *block, size_t old_size, size_t new_size) {
    (void)data;
    (void)old_size;
    if (new_size > 0)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

#define ebb_heap_use(heap) ((void)(heap))
#define ebb_lua_alloc system_alloc
#define ebb_zlib_alloc NULL
#define ebb_zlib_free NULL
#undef EBB_YYJSON_ALC
#define EBB_YYJSON_ALC(heap) { ebb_yyjson_malloc_, ebb_yyjson_realloc_, ebb_yyjson_free_, NULL }
