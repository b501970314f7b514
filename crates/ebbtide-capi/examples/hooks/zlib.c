/* Compresses the standard input, decompresses it again and compares, by zlib in a scope.
   cc zlib.c $(pkg-config --cflags --libs zlib ebbtide) */
#include "input.h"

#include <zlib.h>

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    z_stream stream = {0};
    const char *text;
    Bytef *packed, *unpacked;
    size_t length, before;
    uLong size;
    int failed = 1;
    ebb_heap_init(&heap, &s);
    text = read_input(&s, &length);
    packed = ebb_array(&s, Bytef, compressBound((uLong)length));
    unpacked = ebb_array(&s, Bytef, length);
    before = bytes_in_use(&s);

    stream.zalloc = ebb_zlib_alloc;
    stream.zfree = ebb_zlib_free;
    stream.opaque = &heap;
    if (packed != NULL && unpacked != NULL && deflateInit(&stream, 9) == Z_OK) {
        stream.next_in = (z_const Bytef *)(uintptr_t)text;
        stream.avail_in = (uInt)length;
        stream.next_out = packed;
        stream.avail_out = (uInt)compressBound((uLong)length);
        failed = deflate(&stream, Z_FINISH) != Z_STREAM_END;
        size = stream.total_out;
        fprintf(stderr, "%zu bytes\n", bytes_in_use(&s) - before);
        deflateEnd(&stream);
        if (!failed && inflateInit(&stream) == Z_OK) {
            stream.next_in = packed;
            stream.avail_in = (uInt)size;
            stream.next_out = unpacked;
            stream.avail_out = (uInt)length;
            failed = inflate(&stream, Z_FINISH) != Z_STREAM_END || stream.total_out != length ||
                     memcmp(unpacked, text, length) != 0;
            inflateEnd(&stream);
            printf("%zu bytes are %lu, with checksum %lx\n", length, size,
                   crc32(0, packed, (uInt)size));
        }
    }
    ebb_close(&s);
    ebb_arena_free(arena);
    return failed;
}
