#include <cbor.h>

// libcbor's streaming decoder calls back for each item. Swift code pulls items instead: each call reads one. Nothing is
// allocated, and a string is never longer than the bytes available (the decoder asks for more data instead).
enum healthbus_cbor_kind {
    HEALTHBUS_CBOR_UINT, HEALTHBUS_CBOR_NEGINT, HEALTHBUS_CBOR_BYTES, HEALTHBUS_CBOR_TEXT, HEALTHBUS_CBOR_ARRAY,
    HEALTHBUS_CBOR_MAP, HEALTHBUS_CBOR_TAG, HEALTHBUS_CBOR_FLOAT, HEALTHBUS_CBOR_BOOL, HEALTHBUS_CBOR_NULL,
    // Indefinite lengths, and a break outside of one. libcbor itself refuses unassigned simple values.
    HEALTHBUS_CBOR_UNSUPPORTED
};

struct healthbus_cbor_item {
    int kind;
    uint64_t integer;
    double number;
    const unsigned char *bytes;
    size_t count;
};

#define HEALTHBUS_CBOR_CALLBACK(name, type, kind_, member) \
    static inline void healthbus_cbor_##name(void *context, type value) { \
        struct healthbus_cbor_item *item = (struct healthbus_cbor_item *)context; \
        item->kind = kind_; \
        item->member = value; \
    }
HEALTHBUS_CBOR_CALLBACK(u8, uint8_t, HEALTHBUS_CBOR_UINT, integer)
HEALTHBUS_CBOR_CALLBACK(u16, uint16_t, HEALTHBUS_CBOR_UINT, integer)
HEALTHBUS_CBOR_CALLBACK(u32, uint32_t, HEALTHBUS_CBOR_UINT, integer)
HEALTHBUS_CBOR_CALLBACK(u64, uint64_t, HEALTHBUS_CBOR_UINT, integer)
HEALTHBUS_CBOR_CALLBACK(n8, uint8_t, HEALTHBUS_CBOR_NEGINT, integer)
HEALTHBUS_CBOR_CALLBACK(n16, uint16_t, HEALTHBUS_CBOR_NEGINT, integer)
HEALTHBUS_CBOR_CALLBACK(n32, uint32_t, HEALTHBUS_CBOR_NEGINT, integer)
HEALTHBUS_CBOR_CALLBACK(n64, uint64_t, HEALTHBUS_CBOR_NEGINT, integer)
HEALTHBUS_CBOR_CALLBACK(array, size_t, HEALTHBUS_CBOR_ARRAY, count)
HEALTHBUS_CBOR_CALLBACK(map, size_t, HEALTHBUS_CBOR_MAP, count)
HEALTHBUS_CBOR_CALLBACK(tag, uint64_t, HEALTHBUS_CBOR_TAG, integer)
HEALTHBUS_CBOR_CALLBACK(f4, float, HEALTHBUS_CBOR_FLOAT, number)
HEALTHBUS_CBOR_CALLBACK(f8, double, HEALTHBUS_CBOR_FLOAT, number)
HEALTHBUS_CBOR_CALLBACK(boolean, bool, HEALTHBUS_CBOR_BOOL, integer)
#undef HEALTHBUS_CBOR_CALLBACK
static inline void healthbus_cbor_bytes(void *context, cbor_data bytes, size_t count) {
    struct healthbus_cbor_item *item = (struct healthbus_cbor_item *)context;
    item->kind = HEALTHBUS_CBOR_BYTES;
    item->bytes = bytes;
    item->count = count;
}
static inline void healthbus_cbor_text(void *context, cbor_data bytes, size_t count) {
    healthbus_cbor_bytes(context, bytes, count);
    ((struct healthbus_cbor_item *)context)->kind = HEALTHBUS_CBOR_TEXT;
}
static inline void healthbus_cbor_null(void *context) { ((struct healthbus_cbor_item *)context)->kind = HEALTHBUS_CBOR_NULL; }
static inline void healthbus_cbor_unsupported(void *context) {
    ((struct healthbus_cbor_item *)context)->kind = HEALTHBUS_CBOR_UNSUPPORTED;
}

/// Reads one item. Returns 0 if it was read (`*used` bytes consumed), 1 if the bytes end inside it, 2 if they aren't
/// CBOR.
static inline int healthbus_cbor_next(
    const unsigned char *bytes, size_t count, struct healthbus_cbor_item *item, size_t *used) {
    static const struct cbor_callbacks callbacks = {
        .uint8 = healthbus_cbor_u8, .uint16 = healthbus_cbor_u16, .uint32 = healthbus_cbor_u32, .uint64 = healthbus_cbor_u64,
        .negint64 = healthbus_cbor_n64, .negint32 = healthbus_cbor_n32, .negint16 = healthbus_cbor_n16,
        .negint8 = healthbus_cbor_n8, .byte_string_start = healthbus_cbor_unsupported, .byte_string = healthbus_cbor_bytes,
        .string = healthbus_cbor_text, .string_start = healthbus_cbor_unsupported,
        .indef_array_start = healthbus_cbor_unsupported, .array_start = healthbus_cbor_array,
        .indef_map_start = healthbus_cbor_unsupported, .map_start = healthbus_cbor_map, .tag = healthbus_cbor_tag,
        .float2 = healthbus_cbor_f4, .float4 = healthbus_cbor_f4, .float8 = healthbus_cbor_f8,
        .undefined = healthbus_cbor_null, .null = healthbus_cbor_null, .boolean = healthbus_cbor_boolean,
        .indef_break = healthbus_cbor_unsupported,
    };
    struct cbor_decoder_result result = cbor_stream_decode(bytes, count, &callbacks, item);
    *used = result.read;
    return result.status == CBOR_DECODER_FINISHED ? 0 : result.status == CBOR_DECODER_NEDATA ? 1 : 2;
}
