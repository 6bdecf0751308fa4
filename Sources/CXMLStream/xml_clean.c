#include "xml_stream.h"

/// Replaces a byte that isn't UTF-8. It is a control character, since those in the input all become spaces.
enum { foreignByte = 1 };

static bool isForbidden(uint8_t byte) { return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r'; }

/// Length of the valid character at `bytes`, 0 when XML doesn't allow it, -1 when it may be valid but is incomplete.
static int character(const uint8_t *bytes, int64_t length) {
    uint8_t first = bytes[0];
    int count = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (count < 2) return count;
    for (int i = 1; i < count; i++) {
        if (i >= length) return -1;
        uint8_t low = 0x80, high = 0xBF;
        if (i == 1) {
            // Excludes overlong forms, surrogates, and anything beyond U+10FFFF.
            if (first == 0xE0) low = 0xA0;
            if (first == 0xED) high = 0x9F;
            if (first == 0xF0) low = 0x90;
            if (first == 0xF4) high = 0x8F;
        }
        if (bytes[i] < low || bytes[i] > high) return 0;
    }
    // U+FFFE and U+FFFF.
    return first == 0xEF && bytes[1] == 0xBF && bytes[2] >= 0xBE ? 0 : count;
}

int64_t healthbus_xml_clean(uint8_t *bytes, int64_t length, bool last, int64_t *replaced) {
    int64_t at = 0;
    while (at < length) {
        // Most blocks are plain text, and the compiler can vectorize the loop below.
        while (at + 64 <= length) {
            uint8_t unusual = 0;
            for (int i = 0; i < 64; i++) {
                uint8_t byte = bytes[at + i];
                unusual |= (byte >= 0x80) | ((byte < 0x20) & (byte != '\t') & (byte != '\n') & (byte != '\r'));
            }
            if (unusual) break;
            at += 64;
        }
        int64_t end = at + 64 < length ? at + 64 : length;
        while (at < end) {
            if (bytes[at] < 0x80) {
                if (bytes[at] != 0 && isForbidden(bytes[at])) {
                    bytes[at] = ' ';
                    ++*replaced;
                }
                at++;
                continue;
            }
            int count = character(bytes + at, length - at);
            if (count < 0 && !last) return at;
            if (count <= 0) {
                bytes[at++] = foreignByte;
                ++*replaced;
            } else {
                at += count;
            }
        }
    }
    return at;
}
