// Inlined: the hash of a short key costs less than a call through the dynamic linker.
#define XXH_INLINE_ALL
#include <xxhash.h>

// xxhash renames its functions by macros that Swift's importer can't read.
static inline void healthbus_hash128(const void *bytes, size_t count, uint64_t *high, uint64_t *low) {
    XXH128_hash_t hash = XXH3_128bits(bytes, count);
    *high = hash.high64;
    *low = hash.low64;
}
