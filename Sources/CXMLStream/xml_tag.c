#include "xml_tag.h"

#include <string.h>

bool xmlIsSpace(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; }

// Every character beyond ASCII counts as a letter: the few that XML excludes aren't worth refusing a name for.
bool xmlIsNameStart(uint8_t byte) {
    return (uint8_t)((byte | 0x20) - 'a') < 26 || byte >= 0x80 || byte == '_' || byte == ':';
}

static bool isNameByte(uint8_t byte) {
    return xmlIsNameStart(byte) || (uint8_t)(byte - '0') < 10 || byte == '-' || byte == '.';
}

int64_t xmlNameLength(const uint8_t *begin, const uint8_t *limit) {
    const uint8_t *at = begin;
    if (at < limit && xmlIsNameStart(*at))
        while (at < limit && isNameByte(*at)) at++;
    return at - begin;
}

int64_t xmlReferenceLength(const uint8_t *begin, const uint8_t *limit) {
    const uint8_t *at = begin + 1;
    // No entity in an export has a longer name, so the search for its end stops there.
    if (limit - at > 64) limit = at + 64;
    const uint8_t *first = at;
    if (at < limit && *at == '#') {
        first = ++at;
        while (at < limit && ((uint8_t)(*at - '0') < 10 || (uint8_t)((*at | 0x20) - 'a') < 26)) at++;
    } else {
        at += xmlNameLength(at, limit);
    }
    return at > first && at < limit && *at == ';' ? at + 1 - begin : 0;
}

static tag_outcome malformed(tag_reader *reader, const char *problem) {
    reader->problem = problem;
    return tagMalformed;
}

/// Encodes a character of XML 1.0 as UTF-8; 0 bytes when XML doesn't allow it.
static int encode(uint32_t code, uint8_t *out) {
    bool isControl = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
    if (isControl || (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF) return 0;
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    int count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = count - 1; i > 0; i--, code >>= 6) out[i] = (uint8_t)(0x80 | (code & 0x3F));
    out[0] = (uint8_t)((0xF00 >> count) | code);
    return count;
}

/// Resolves a reference to its character; 0 bytes for a reference that is forbidden or undeclared. The result is never
/// longer than the reference.
static int resolve(const uint8_t *reference, int64_t length, uint8_t *out) {
    const uint8_t *body = reference + 1;
    int64_t count = length - 2;
    if (body[0] == '#') {
        bool isHex = count > 1 && (body[1] | 0x20) == 'x';
        uint32_t code = 0;
        if (count == (isHex ? 2 : 1)) return 0;
        for (int64_t i = isHex ? 2 : 1; i < count; i++) {
            uint32_t digit = (uint8_t)(body[i] - '0') < 10 ? (uint32_t)(body[i] - '0') : (uint32_t)((body[i] | 0x20) - 'a' + 10);
            if (digit >= (isHex ? 16u : 10u)) return 0;
            code = code * (isHex ? 16 : 10) + digit;
            if (code > 0x10FFFF) return 0;
        }
        return encode(code, out);
    }
    static const struct {
        const char *name;
        char character;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if ((int64_t)strlen(known[i].name) != count || memcmp(known[i].name, body, (size_t)count) != 0) continue;
        out[0] = (uint8_t)known[i].character;
        return 1;
    }
    return 0;
}

static bool isDeclared(const uint8_t *reference, int64_t length) {
    uint8_t character[4];
    return reference[1] == '#' || resolve(reference, length, character) > 0;
}

healthbus_xml_fault healthbus_xml_fault_of(const char *bytes, int64_t length) {
    if (length <= 0) return healthbus_xml_fine;
    if (memchr(bytes, 0, (size_t)length) != NULL) return healthbus_xml_zeros;
    if (memchr(bytes, 1, (size_t)length) != NULL) return healthbus_xml_foreign;
    const uint8_t *at = (const uint8_t *)bytes;
    const uint8_t *limit = at + length;
    while (at < limit && (at = memchr(at, '&', (size_t)(limit - at))) != NULL) {
        int64_t reference = xmlReferenceLength(at, limit);
        if (reference > 0 && !isDeclared(at, reference)) return healthbus_xml_entity;
        at++;
    }
    return healthbus_xml_fine;
}

/// Decodes references and turns white space into spaces. Returns false for an '&' that doesn't begin a reference, for
/// an entity (its text isn't known), and for bytes that `healthbus_xml_clean` marked. A number that stands for no
/// character becomes '?': if it were left out, "1&#0;6" would become a different number.
static bool decode(tag_reader *reader, const uint8_t *begin, const uint8_t *end, uint8_t **scratch, healthbus_xml_text *out) {
    uint8_t *to = *scratch;
    for (const uint8_t *at = begin; at < end;) {
        if (*at != '&') {
            if (*at < 2) return false;
            *to++ = xmlIsSpace(*at) ? ' ' : *at;
            at++;
            continue;
        }
        int64_t length = xmlReferenceLength(at, end);
        if (length == 0 || !isDeclared(at, length)) return false;
        int count = resolve(at, length, to);
        if (count == 0) {
            *to = '?';
            count = 1;
            reader->dropped++;
        }
        to += count;
        at += length;
    }
    *out = (healthbus_xml_text){(const char *)*scratch, to - *scratch};
    *scratch = to;
    return true;
}

/// Reads the attribute's name at `at`, up to its '='. Localized exports have names of several words; none of the words
/// may be a known name, or an attribute without a value would swallow the next attribute's name.
static tag_outcome readName(tag_reader *reader, const uint8_t *at, const uint8_t *limit, int64_t *length, const uint8_t **equals) {
    const uint8_t *begin = at;
    bool hasWords = false;
    while (true) {
        if (at == limit) return tagIncomplete;
        const uint8_t *word = at;
        if (!xmlIsNameStart(*at)) return malformed(reader, "a tag doesn't end");
        while (at < limit && (isNameByte(*at) || (hasWords && *at == '\''))) at++;
        if (at == limit) return tagIncomplete;
        const uint8_t *wordEnd = at;
        while (at < limit && xmlIsSpace(*at)) at++;
        if (at == limit) return tagIncomplete;
        *length = wordEnd - begin;
        *equals = at;
        bool isLast = *at == '=';
        if ((hasWords || !isLast) && nameListFind(reader->attributeNames, word, wordEnd - word) >= 0)
            return malformed(reader, "an attribute has no value");
        if (isLast) return tagWhole;
        if (at == wordEnd || !xmlIsNameStart(*at)) return malformed(reader, "an attribute has no value");
        hasWords = true;
    }
}

static tag_outcome keep(tag_reader *reader, const uint8_t *name, int64_t length, healthbus_xml_text value) {
    int32_t code = nameListFind(reader->attributeNames, name, length);
    if (code >= 0) {
        if (reader->present >> code & 1) return malformed(reader, "an attribute occurs twice");
        reader->values[code] = value;
        reader->present |= 1ull << code;
        return tagWhole;
    }
    for (int32_t i = 0; i < reader->extraCount; i++) {
        healthbus_xml_text other = reader->extras[2 * i];
        if (other.length == length && memcmp(other.bytes, name, (size_t)length) == 0)
            return malformed(reader, "an attribute occurs twice");
    }
    if (reader->extraCount == maximumExtras) return malformed(reader, "a tag has more than 32 attributes that aren't known");
    reader->extras[2 * reader->extraCount] = (healthbus_xml_text){(const char *)name, length};
    reader->extras[2 * reader->extraCount + 1] = value;
    reader->extraCount++;
    return tagWhole;
}

tag_outcome tagRead(tag_reader *reader, const uint8_t *begin, const uint8_t *limit) {
    const uint8_t *at = begin + 1;
    uint8_t *scratch = reader->scratch;
    reader->present = 0;
    reader->extraCount = 0;
    reader->dropped = 0;
    reader->isEmpty = false;
    if (at == limit) return tagIncomplete;
    reader->isEnd = *at == '/';
    if (reader->isEnd) at++;
    reader->name = at;
    at += xmlNameLength(at, limit);
    reader->nameLength = at - reader->name;
    if (at == limit) return tagIncomplete;
    if (reader->nameLength == 0) return malformed(reader, "a tag has no name");
    for (int64_t i = reader->nameLength - 1; i > 0; i--) {
        if (reader->name[i - 1] != ':') continue;
        reader->name += i;
        reader->nameLength -= i;
        break;
    }
    while (true) {
        const uint8_t *gap = at;
        while (at < limit && xmlIsSpace(*at)) at++;
        if (at == limit) return tagIncomplete;
        reader->bodyEnd = at;
        if (*at == '>') {
            reader->end = at + 1;
            return tagWhole;
        }
        if (reader->isEnd) return malformed(reader, "an end tag doesn't end");
        if (*at == '/') {
            if (at + 1 == limit) return tagIncomplete;
            if (at[1] != '>') return malformed(reader, "a tag doesn't end");
            reader->isEmpty = true;
            reader->end = at + 2;
            return tagWhole;
        }
        if (*at == '<') return malformed(reader, "a tag doesn't end");
        if (at == gap) return malformed(reader, "attributes aren't separated");
        const uint8_t *name = at;
        int64_t length = 0;
        tag_outcome outcome = readName(reader, name, limit, &length, &at);
        if (outcome != tagWhole) return outcome;
        at++;
        while (at < limit && xmlIsSpace(*at)) at++;
        if (at == limit) return tagIncomplete;
        uint8_t quote = *at;
        if (quote != '"' && quote != '\'') return malformed(reader, "an attribute's value has no quotes");
        const uint8_t *value = ++at;
        bool isPlain = true;
        while (at < limit && *at != quote) {
            if (*at == '<') return malformed(reader, "'<' in an attribute's value, or a quote is missing");
            if (*at == '&' || *at < 0x20) isPlain = false;
            at++;
        }
        if (at == limit) return tagIncomplete;
        healthbus_xml_text text = {(const char *)value, at - value};
        if (!isPlain && !decode(reader, value, at, &scratch, &text))
            return malformed(reader, "'&' in an attribute's value");
        outcome = keep(reader, name, length, text);
        if (outcome != tagWhole) return outcome;
        at++;
    }
}
