/* Reads an image from the standard input and writes it to the standard output as PNG, by stb in a
   scope. cc stb.c $(pkg-config --cflags --libs stb ebbtide) -lm */
#define EBB_STB
#include "input.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image.h>
#include <stb_image_write.h>

int main(void) {
    ebb_arena *arena = ebb_arena_new(NULL);
    ebb_scope s = ebb_open(arena);
    ebb_heap heap;
    const char *input;
    unsigned char *pixels, *written = NULL;
    int width, height, channels, size = 0;
    size_t length, before;
    input = read_input(&s, &length);
    before = bytes_in_use(&s);

    ebb_heap_init(&heap, &s);
    ebb_heap_use(&heap);
    pixels = stbi_load_from_memory((const stbi_uc *)input, (int)length, &width, &height, &channels,
                                   0);
    if (pixels != NULL)
        written = stbi_write_png_to_mem(pixels, width * channels, width, height, channels, &size);
    ebb_heap_use(NULL);

    if (written != NULL)
        fwrite(written, 1, (size_t)size, stdout);
    fprintf(stderr, "%zu bytes\n", bytes_in_use(&s) - before);
    stbi_image_free(pixels); /* Closing the scope would free both, too. */
    ebb_hook_free(written);
    ebb_close(&s);
    ebb_arena_free(arena);
    return written == NULL;
}
