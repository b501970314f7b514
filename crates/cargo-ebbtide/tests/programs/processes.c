// "fork": a child frees blocks of its parent, and allocates, after its parent has allocated more.
// "exec": replaces itself by the program that the other arguments name.
// "closed": closes all its files, opens one of its own, and allocates.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEVER_INLINED __attribute__((noinline))
#define BLOCKS 20000

static char *blocks[2 * BLOCKS];

NEVER_INLINED void fill(int from, int to) {
    for (int index = from; index < to; index++) {
        blocks[index] = malloc(40);
        memset(blocks[index], index, 40);
    }
}

NEVER_INLINED long drop(int from, int to) {
    long sum = 0;
    for (int index = from; index < to; index++) {
        sum += blocks[index][39];
        free(blocks[index]);
        blocks[index] = NULL;
    }
    return sum;
}

static void say(const char *who, long sum) {
    char line[80];
    int length = snprintf(line, sizeof line, "%s %ld\n", who, sum);
    if (write(1, line, (size_t)length) != length) {
        abort();
    }
}

static int forks(void) {
    int ready[2];
    char byte = 0;
    fill(0, BLOCKS);
    if (pipe(ready) != 0) {
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        if (read(ready[0], &byte, 1) != 1) {
            _exit(1);
        }
        long sum = drop(0, BLOCKS);
        fill(0, BLOCKS);
        char *grown = realloc(blocks[5], 4000);
        sum += grown[39];
        blocks[5] = grown;
        say("child", sum + drop(0, BLOCKS));
        _exit(0);
    }
    fill(BLOCKS, 2 * BLOCKS);
    int status = 1;
    if (write(ready[1], &byte, 1) != 1 || waitpid(child, &status, 0) != child || status != 0) {
        return 1;
    }
    long sum = 0;
    for (int index = 0; index < 2 * BLOCKS; index++) {
        sum += blocks[index][39];
    }
    say("parent", sum);
    _exit(0);
}

static int closes(const char *path) {
    fill(0, 10);
    for (int file = 3; file < 100; file++) {
        close(file);
    }
    int files[20];
    for (int index = 0; index < 20; index++) {
        files[index] = open(path, O_RDWR | O_CREAT, 0600);
    }
    if (write(files[0], "mine", 4) != 4) {
        return 1;
    }
    fill(10, BLOCKS);
    say("bytes", (long)lseek(files[0], 0, SEEK_END));
    return 0;
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (strcmp(mode, "fork") == 0) {
        return forks();
    }
    if (strcmp(mode, "closed") == 0) {
        return closes(arguments[2]);
    }
    fill(0, 100);
    execv(arguments[2], arguments + 2);
    return 1;
}
