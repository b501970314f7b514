/* The size classes of a record. */
#include <stddef.h>

/* Sizes are counted in steps of this many bytes. */
#define STEP ((size_t)16)
/* Larger blocks than 2,048 bytes are not counted. */
#define CLASSES ((size_t)2048 / STEP + 1)
