/* `programs NAME TURNS` runs Lua, cJSON or the JSON parser of `examples/meson` over the heap; with a third
   argument `explicit`, their memory is in a scope, that of the libraries by hooks. */
#include "programs.h"
#include "serve.h"

#include <cjson/cJSON.h>
#include <ebbtide_hooks.h>
#include <lauxlib.h>
#include <lualib.h>

static const char script[] =
    "local words = {}\n"
    "for i = 1, 3000 do\n"
    "  local w = string.rep(string.char(97 + i % 26), i % 17) .. i % 900\n"
    "  words[w] = (words[w] or 0) + 1\n"
    "end\n"
    "local keys = {}\n"
    "for k in pairs(words) do keys[#keys + 1] = k end\n"
    "table.sort(keys)\n"
    "local function tree(d) if d == 0 then return {} end return {tree(d - 1), tree(d - 1)} end\n"
    "local function count(t) if not t[1] then return 1 end return 1 + count(t[1]) + count(t[2]) end\n"
    "return #keys + #table.concat(keys) + count(tree(11))\n";

static void *system_alloc(void *data, void *block, size_t old_size, size_t new_size) {
    (void)data;
    (void)old_size;
    if (new_size > 0)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

static uint64_t run_script(lua_State *lua) {
    if (lua == NULL)
        abort();
    luaL_openlibs(lua);
    if (luaL_loadstring(lua, script) || lua_pcall(lua, 0, 1, 0))
        abort();
    return (uint64_t)lua_tointeger(lua, -1);
}

static uint64_t lua(ebb_scope *s) {
    ebb_heap heap;
    lua_State *state;
    uint64_t result;
    if (s != NULL)
        ebb_heap_init(&heap, s);
    state = lua_newstate(s == NULL ? system_alloc : ebb_lua_alloc, &heap);
    result = run_script(state);
    /* There are no finalizers to run: closing the scope is enough. */
    if (s == NULL)
        lua_close(state);
    return result;
}

/* Records with strings, numbers and lists. */
static char text[200000];
static size_t length;

static void write_document(void) {
    for (int i = 0; i < 800; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "%c{\"id\": %d, \"name\": \"harbour %d of the tide\", \"open\": true,"
                                   " \"position\": [%d.5, %d, null], \"tags\": [\"salt\", \"quay %d\"],"
                                   " \"parent\": {\"id\": %d, \"name\": \"mole\"}}",
                                   i == 0 ? '[' : ',', i, i, i, i % 90, i % 7, i / 2);
    text[length++] = ']';
}

static uint64_t sum_of_values(const json_value *value) {
    uint64_t total = value->kind == JSON_NUMBER ? (uint64_t)value->as.number : 1;
    if (value->kind == JSON_STRING)
        total += value->as.string.length;
    if (value->kind == JSON_ARRAY)
        for (size_t i = 0; i < value->count; i++)
            total += sum_of_values(&value->as.items[i]);
    if (value->kind == JSON_OBJECT)
        for (size_t i = 0; i < value->count; i++)
            total += value->as.members[i].name.length + sum_of_values(&value->as.members[i].value);
    return total;
}

static uint64_t json(ebb_scope *s) {
    json_error error;
    const json_value *parsed = (s == NULL ? heap_json_parse : json_parse)(s, text, length, &error);
    const uint64_t result = parsed == NULL ? 0 : sum_of_values(parsed);
    if (s == NULL)
        heap_json_free();
    return result;
}

static uint64_t sum(const cJSON *value) {
    uint64_t total = 0;
    for (; value != NULL; value = value->next) {
        total += cJSON_IsNumber(value) ? (uint64_t)value->valuedouble : 1;
        if (value->string != NULL)
            total += strlen(value->string);
        if (value->valuestring != NULL)
            total += strlen(value->valuestring);
        total += sum(value->child);
    }
    return total;
}

static uint64_t cjson(ebb_scope *s) {
    ebb_heap heap;
    cJSON *parsed;
    uint64_t result;
    if (s != NULL) {
        ebb_heap_init(&heap, s);
        ebb_heap_use(&heap);
    }
    parsed = cJSON_Parse(text);
    result = sum(parsed);
    if (s == NULL)
        cJSON_Delete(parsed);
    else
        ebb_heap_use(NULL);
    return result;
}

int main(int argc, char **argv) {
    const char *const name = argc > 1 ? argv[1] : "";
    const long turns = argc > 2 ? atol(argv[2]) : 0;
    const bool is_explicit = argc > 3;
    uint64_t (*const run)(ebb_scope *) = strcmp(name, "Lua") == 0     ? lua
                                         : strcmp(name, "cJSON") == 0 ? cjson
                                                                      : json;
    uint64_t result = 0;
    ebb_arena *arena = ebb_arena_new(NULL);
    write_document();
    if (is_explicit) {
        cJSON_Hooks hooks = EBB_CJSON_HOOKS;
        cJSON_InitHooks(&hooks);
    }
    while (next_batch(result)) {
        result = 0;
        for (long turn = 0; turn < turns; turn++) {
            if (is_explicit) {
                ebb_scope s = ebb_open(arena);
                result += run(&s);
                ebb_close(&s);
            } else {
                result += run(NULL);
            }
        }
    }
    ebb_arena_free(arena);
    return 0;
}
