// Inlined: the hash of a short key costs less than a call through the dynamic linker.
#define XXH_INLINE_ALL
#include <xxhash.h>

// xxhash renames its functions with macros that Swift's importer can't read.
static inline void healthbus_hash128(const void *bytes, size_t count, uint64_t *high, uint64_t *low) {
    XXH128_hash_t hash = XXH3_128bits(bytes, count);
    *high = hash.high64;
    *low = hash.low64;
}

// The same for content that arrives piece by piece. NULL when there is no memory.
static inline void *healthbus_hash_begin(void) {
    XXH3_state_t *state = XXH3_createState();
    if (state) XXH3_128bits_reset(state);
    return state;
}

static inline void healthbus_hash_add(void *state, const void *bytes, size_t count) {
    XXH3_128bits_update((XXH3_state_t *)state, bytes, count);
}

static inline void healthbus_hash_value(const void *state, uint64_t *high, uint64_t *low) {
    XXH128_hash_t hash = XXH3_128bits_digest((const XXH3_state_t *)state);
    *high = hash.high64;
    *low = hash.low64;
}

static inline void healthbus_hash_end(void *state) { XXH3_freeState((XXH3_state_t *)state); }

// A GNU function that Swift's importer doesn't see.
extern void *memmem(const void *, size_t, const void *, size_t);

// The offset at which a text first occurs; -1 when it doesn't occur.
static inline int64_t healthbus_find(const void *bytes, size_t count, const void *text, size_t length) {
    const char *found = (const char *)memmem(bytes, count, text, length);
    return found ? found - (const char *)bytes : -1;
}
