/* Runs a Lua script, which is the standard input, in a scope.
   cc lua.c $(pkg-config --cflags --libs lua5.4 ebbtide) */
#include "input.h"

#include <lauxlib.h>
#include <lualib.h>

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    lua_State *lua;
    const char *script;
    size_t length, before;
    int failed;
    ebb_heap_init(&heap, &s);
    script = read_input(&s, &length);
    before = bytes_in_use(&s);
    lua = lua_newstate(ebb_lua_alloc, &heap);
    if (lua == NULL)
        return 1;
    luaL_openlibs(lua);
    failed = luaL_loadbuffer(lua, script, length, "script") || lua_pcall(lua, 0, 0, 0);
    if (failed)
        fprintf(stderr, "%s\n", lua_tostring(lua, -1));
    fprintf(stderr, "%zu bytes\n", bytes_in_use(&s) - before);
    lua_close(lua); /* runs finalizers, which for instance close files */
    ebb_close(&s);
    ebb_arena_free(arena);
    return failed;
}
