/* Claim: a library with arenas in it may be unloaded while threads live that used them. It stays
   loaded until they end. After it was unloaded, it holds no key of the process. It may use the
   program's arenas. The messages of the checks name its lines when it has been unloaded. With PLUGIN,
   this is the library. */
#define _POSIX_C_SOURCE 200809L

#ifdef PLUGIN
#include "ebbtide.h"

/* What the plugin exports. */
int work(void);
char *print(ebb_scope *s, int number);
void leave_open(ebb_scope *s, ebb_scope *child);

int work(void) {
    ebb_scope s = ebb_thread_open();
    const char *text = ebb_sprintf(&s, "%d", 7);
    const int number = text == NULL ? 0 : atoi(text);
    ebb_close(&s);
    return number;
}

/* Allocates in a scope of the program, whose library is another copy. */
char *print(ebb_scope *s, int number) {
    ebb_scope child = ebb_child(s);
    const bool done = ebb_array(&child, char, 100000) != NULL;
    ebb_close(&child);
    if (!done || ebb_array(s, char, 50000) == NULL)
        return NULL;
    return ebb_sprintf(s, "%d", number);
}

void leave_open(ebb_scope *s, ebb_scope *child) {
    *child = ebb_child(s);
}
#else
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

enum { ROUNDS = 20, MOST_KEYS = 4096 };

static sem_t has_worked, is_closed;

static void *run(void *plugin) {
    int (*work)(void);
    *(void **)&work = dlsym(plugin, "work");
    EXPECT(work != NULL && work() == 7);
    EXPECT(sem_post(&has_worked) == 0 && sem_wait(&is_closed) == 0);
    return NULL;
}

/* How many keys the process can still create. */
static int free_keys(void) {
    static pthread_key_t keys[MOST_KEYS];
    int count = 0;
    while (count < MOST_KEYS && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    for (int i = 0; i < count; i++)
        EXPECT(pthread_key_delete(keys[i]) == 0);
    return count;
}

/* Aborts with a message that names a line of the plugin. */
static void misuse(ebb_scope *s, const char *name) {
    void *plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    EXPECT(plugin != NULL);
    void (*leave_open)(ebb_scope *, ebb_scope *);
    *(void **)&leave_open = dlsym(plugin, "leave_open");
    EXPECT(leave_open != NULL);
    ebb_scope child;
    leave_open(s, &child);
    EXPECT(dlclose(plugin) == 0 && dlopen(name, RTLD_NOW | RTLD_NOLOAD) == NULL);
    ebb_new(s, int);
}

int main(int count, char **arguments) {
    if (count == 3) {
        ebb_scope s = ebb_open(ebb_arena_new(NULL));
        misuse(&s, arguments[1]);
    }
    EXPECT(count == 2);
    EXPECT(sem_init(&has_worked, 0, 0) == 0 && sem_init(&is_closed, 0, 0) == 0);
    const int before = free_keys();
    for (int round = 0; round < ROUNDS; round++) {
        void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        EXPECT(plugin != NULL);
        pthread_t thread;
        EXPECT(pthread_create(&thread, NULL, run, plugin) == 0);
        EXPECT(sem_wait(&has_worked) == 0);
        EXPECT(dlclose(plugin) == 0);
        /* It stays loaded: the end of the thread frees the thread's arenas. */
        plugin = dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD);
        EXPECT(plugin != NULL && dlclose(plugin) == 0);
        EXPECT(sem_post(&is_closed) == 0);
        EXPECT(pthread_join(thread, NULL) == 0);
        /* What was closed while it was in use is unloaded with the next one. */
        plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        EXPECT(plugin != NULL && dlclose(plugin) == 0);
        EXPECT(dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) == NULL);
    }
    EXPECT(free_keys() == before);

    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    EXPECT(plugin != NULL);
    char *(*print)(ebb_scope *, int);
    *(void **)&print = dlsym(plugin, "print");
    EXPECT(print != NULL);
    const char *text = print(&s, 7);
    EXPECT(text != NULL && dlclose(plugin) == 0);
    EXPECT_TEXT(text, "7");
    EXPECT(ebb_array(&s, char, 1000000) != NULL);
    EXPECT(ebb_close(&s) == EBB_OK && ebb_arena_free(arena) == EBB_OK);
    return 0;
}
#endif
