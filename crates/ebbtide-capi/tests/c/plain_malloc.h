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

static inline void *system_malloc(void *data, size_t size) {
    (void)data;
    return malloc(size);
}

static inline void *system_realloc(void *data, void *block, size_t size) {
    (void)data;
    return realloc(block, size);
}

static inline void system_free(void *data, void *block) {
    (void)data;
    free(block);
}

#define ebb_heap_use(heap) ((void)(heap))
#define ebb_lua_alloc system_alloc
#define ebb_zlib_alloc NULL
#define ebb_zlib_free NULL
#undef EBB_YYJSON_ALC
#define EBB_YYJSON_ALC(heap) { system_malloc, system_alloc, system_free, NULL }
#define ebb_context_malloc system_malloc
#define ebb_context_realloc system_realloc
#define ebb_context_free system_free
