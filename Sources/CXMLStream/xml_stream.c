#define _GNU_SOURCE
#include "xml_stream.h"

#include <stdlib.h>
#include <string.h>

#include "xml_tag.h"

enum { maximumDepth = 256, maximumTag = 1 << 20, maximumText = 64 << 10 };

typedef struct {
    int32_t code;
    uint64_t name;
} open_element;

struct healthbus_xml {
    healthbus_xml_callbacks callbacks;
    void *context;
    name_list elements;
    name_list attributes;
    tag_reader reader;
    // Bytes that have arrived but haven't been processed yet.
    uint8_t *bytes;
    int64_t capacity;
    int64_t count;
    int64_t at;
    /// No tag that would end a broken tag begins between `at` and this position.
    int64_t searched;
    /// For each of the `specials`, its end doesn't occur between `at` and this position.
    int64_t endless[3];
    /// Line of the byte at `counted`.
    int64_t line;
    int64_t counted;
    open_element open[maximumDepth];
    int32_t depth;
    bool stopped;
    bool complete;
    bool last;
    healthbus_xml_damage damage;
};

/// Comments, CDATA and instructions: how each begins and ends.
static const struct {
    const char *begin;
    const char *end;
} specials[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};

static uint64_t hashOf(const uint8_t *name, int64_t length) {
    uint64_t hash = 0xCBF29CE484222325ull;
    for (int64_t i = 0; i < length; i++) hash = (hash ^ name[i]) * 0x100000001B3ull;
    return hash;
}

static int64_t lineAt(healthbus_xml *xml, int64_t position) {
    const uint8_t *at = xml->bytes + xml->counted;
    const uint8_t *end = xml->bytes + position;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        xml->line++;
        at++;
    }
    if (position > xml->counted) xml->counted = position;
    return xml->line;
}

static void note(healthbus_xml *xml, const char *what, int64_t line) {
    if (xml->damage.errors++ > 0) return;
    xml->damage.line = line;
    strncpy(xml->damage.message, what, sizeof xml->damage.message - 1);
}

static void noteFault(healthbus_xml *xml, healthbus_xml_fault fault, int64_t line) {
    if (fault == healthbus_xml_zeros) {
        if (xml->damage.zeros++ == 0) xml->damage.zerosLine = line;
        note(xml, "there are zero bytes where content was", line);
    } else if (fault == healthbus_xml_foreign) {
        note(xml, "there are bytes that aren't UTF-8", line);
    } else if (fault == healthbus_xml_entity) {
        note(xml, "there is an entity, and entities aren't read", line);
    }
}

static void push(healthbus_xml *xml, int32_t code, uint64_t name) {
    xml->open[xml->depth++] = (open_element){code, name};
}

/// Ends the innermost element.
static void pop(healthbus_xml *xml, bool implied) {
    int32_t code = xml->open[--xml->depth].code;
    xml->callbacks.end(xml->context, code, xml->depth, implied);
    if (xml->depth == 0) xml->complete = true;
}

static void startTag(healthbus_xml *xml, healthbus_xml_element *element, const uint8_t *name, int64_t length) {
    if (xml->depth == maximumDepth) {
        note(xml, "elements are nested too deeply", element->line);
        xml->stopped = true;
        return;
    }
    element->code = nameListFind(&xml->elements, name, length);
    element->name = (healthbus_xml_text){(const char *)name, length};
    element->depth = xml->depth;
    element->attributes = xml->reader.values;
    element->extras = xml->reader.extras;
    push(xml, element->code, hashOf(name, length));
    xml->callbacks.start(xml->context, element);
    if (element->empty && !xml->stopped) pop(xml, false);
}

static void wholeStartTag(healthbus_xml *xml) {
    tag_reader *reader = &xml->reader;
    const uint8_t *begin = xml->bytes + xml->at;
    const uint8_t *end = reader->bodyEnd;
    while (end > begin && xmlIsSpace(end[-1])) end--;
    healthbus_xml_element element = {
        .present = reader->present,
        .extraCount = reader->extraCount,
        .empty = reader->isEmpty,
        .line = lineAt(xml, xml->at),
        .raw = {(const char *)begin, end - begin},
    };
    xml->damage.dropped += reader->dropped;
    startTag(xml, &element, reader->name, reader->nameLength);
}

/// Ends the innermost element with that name, and any elements within it that haven't ended.
static void endTag(healthbus_xml *xml, const uint8_t *name, int64_t length) {
    uint64_t hash = hashOf(name, length);
    int32_t found = xml->depth - 1;
    while (found >= 0 && xml->open[found].name != hash) found--;
    if (found != xml->depth - 1) note(xml, "an end tag doesn't match its start tag", lineAt(xml, xml->at));
    if (found < 0) return;
    while (xml->depth > found && !xml->stopped) pop(xml, xml->depth - 1 > found);
}

/// Handles a tag that isn't well-formed, up to `end`. Unless it ends with "/>", the element counts as open, because its
/// children may follow.
static void brokenTag(healthbus_xml *xml, int64_t end, const char *problem) {
    const uint8_t *begin = xml->bytes + xml->at;
    int64_t length = end - xml->at;
    while (length > 1 && xmlIsSpace(begin[length - 1])) length--;
    int64_t line = lineAt(xml, xml->at);
    healthbus_xml_fault fault = healthbus_xml_fault_of((const char *)begin, length);
    bool isMarked = fault == healthbus_xml_zeros || fault == healthbus_xml_foreign;
    // A tag cut off by the end of the input is reported as such.
    if (isMarked || !(xml->last && end == xml->count)) {
        if (fault == healthbus_xml_fine) note(xml, problem, line);
        else noteFault(xml, fault, line);
    }
    const uint8_t *limit = begin + length;
    bool isEnd = length > 1 && begin[1] == '/';
    const uint8_t *name = begin + (isEnd ? 2 : 1);
    int64_t nameLength = name < limit ? xmlNameLength(name, limit) : 0;
    if (nameLength > 0 && !isEnd) {
        healthbus_xml_element element = {
            .malformed = true,
            .fault = fault == healthbus_xml_fine ? healthbus_xml_form : fault,
            .empty = length > 2 && begin[length - 2] == '/' && begin[length - 1] == '>',
            .line = line,
            .raw = {(const char *)begin, length},
        };
        return startTag(xml, &element, name, nameLength);
    }
    if (nameLength > 0 && isMarked) {
        // It is unknown how much of the element that ends here has been lost.
        if (xml->callbacks.stray != NULL) xml->callbacks.stray(xml->context, line, (const char *)begin, length);
        if (!xml->stopped) endTag(xml, name, nameLength);
        return;
    }
    if (nameLength > 0) endTag(xml, name, nameLength);
    if (xml->stopped || xml->complete || xml->callbacks.stray == NULL) return;
    // A torn end tag that contains no quote holds no data.
    if (isEnd && nameLength > 0 && memchr(name, '"', (size_t)(limit - name)) == NULL) return;
    xml->callbacks.stray(xml->context, line, (const char *)begin, length);
}

/// Whether an element that the caller knows begins here, whatever its attributes.
static bool beginsKnown(const healthbus_xml *xml, const uint8_t *at, const uint8_t *limit) {
    int64_t length = xmlNameLength(at + 1, limit);
    const uint8_t *end = at + 1 + length;
    if (end == limit || !(xmlIsSpace(*end) || *end == '>' || *end == '/')) return false;
    return nameListFind(&xml->elements, at + 1, length) >= 0;
}

/// The end of a broken tag: a '>' at the end of a line, if there is one. What follows it is text, and counts as
/// separate damage.
static int64_t endOfLine(const healthbus_xml *xml, int64_t end) {
    const uint8_t *limit = xml->bytes + end;
    const uint8_t *at = xml->bytes + xml->at;
    while (at < limit && (at = memchr(at, '>', (size_t)(limit - at))) != NULL) {
        at++;
        if (at < limit && (*at == '\n' || *at == '\r')) return at - xml->bytes;
    }
    return end;
}

/// Where the next tag begins after the broken one: any whole tag, or the start of a tag with a known name; -1 if more
/// bytes are needed. The search continues where it last stopped. A broken tag may end long before that point, and
/// otherwise the same bytes would be searched again for each such tag.
static int64_t nextTag(healthbus_xml *xml) {
    const uint8_t *limit = xml->bytes + xml->count;
    const uint8_t *at = xml->bytes + (xml->searched > xml->at ? xml->searched : xml->at + 1);
    bool mayWait = !xml->last && xml->count - xml->at <= maximumTag;
    while (at < limit && (at = memchr(at, '<', (size_t)(limit - at))) != NULL) {
        xml->searched = at - xml->bytes;
        tag_outcome outcome = tagRead(&xml->reader, at, limit);
        if (outcome == tagWhole) return xml->searched;
        if (outcome == tagIncomplete) return mayWait ? -1 : xml->searched;
        if (beginsKnown(xml, at, limit)) return xml->searched;
        at++;
    }
    xml->searched = xml->count;
    return mayWait ? -1 : xml->count;
}

/// Handles text from the parser's position up to `end`.
static void text(healthbus_xml *xml, int64_t end) {
    const uint8_t *begin = xml->bytes + xml->at;
    const uint8_t *limit = xml->bytes + end;
    if (xml->callbacks.text != NULL && end > xml->at)
        xml->callbacks.text(xml->context, (const char *)begin, end - xml->at);
    if (xml->stopped) return;
    if (xml->callbacks.stray == NULL) {
        healthbus_xml_fault fault = healthbus_xml_fault_of((const char *)begin, limit - begin);
        return noteFault(xml, fault, fault == healthbus_xml_fine ? 0 : lineAt(xml, xml->at));
    }
    const uint8_t *first = NULL;
    for (const uint8_t *at = begin; at < limit;) {
        if (xmlIsSpace(*at)) {
            at++;
            continue;
        }
        int64_t reference = *at == '&' ? xmlReferenceLength(at, limit) : 0;
        if (reference == 0 || healthbus_xml_fault_of((const char *)at, reference) != healthbus_xml_fine) {
            first = at;
            break;
        }
        xml->damage.dropped++;
        at += reference;
    }
    if (first == NULL) return;
    while (limit > first && xmlIsSpace(limit[-1])) limit--;
    int64_t line = lineAt(xml, first - xml->bytes);
    noteFault(xml, healthbus_xml_fault_of((const char *)first, limit - first), line);
    if (xml->callbacks.stray(xml->context, line, (const char *)first, limit - first))
        note(xml, "there is text where only elements belong", line);
}

/// The end of a comment, an instruction or CDATA at the parser's position; 0 when it is none of these or has no end, -1
/// if more bytes are needed.
static int64_t special(healthbus_xml *xml) {
    const uint8_t *begin = xml->bytes + xml->at;
    int64_t left = xml->count - xml->at;
    bool mayWait = !xml->last && left <= maximumTag;
    for (int i = 0; i < 3; i++) {
        int64_t length = (int64_t)strlen(specials[i].begin);
        if (left < length && memcmp(begin, specials[i].begin, (size_t)left) == 0 && left > 1) return mayWait ? -1 : 0;
        if (left < length || memcmp(begin, specials[i].begin, (size_t)length) != 0) continue;
        size_t endLength = strlen(specials[i].end);
        // As in `nextTag`, the part already searched contains no complete end marker, but its last bytes may be the
        // beginning of one.
        int64_t from = xml->endless[i] - (int64_t)endLength + 1;
        if (from < xml->at + length) from = xml->at + length;
        const uint8_t *end = memmem(xml->bytes + from, (size_t)(xml->count - from), specials[i].end, endLength);
        if (end == NULL) {
            xml->endless[i] = xml->count;
            return mayWait ? -1 : 0;
        }
        if (!xml->complete && memchr(begin, 0, (size_t)(end - begin)) != NULL)
            noteFault(xml, healthbus_xml_zeros, lineAt(xml, xml->at));
        if (i == 1 && xml->callbacks.text != NULL)
            xml->callbacks.text(xml->context, (const char *)begin + length, end - begin - length);
        return end + endLength - xml->bytes;
    }
    return 0;
}

/// Takes one step; returns false if more bytes are needed.
static bool step(healthbus_xml *xml) {
    const uint8_t *limit = xml->bytes + xml->count;
    if (xml->bytes[xml->at] != '<') {
        const uint8_t *next = memchr(xml->bytes + xml->at, '<', (size_t)(xml->count - xml->at));
        if (next == NULL && !xml->last && xml->count - xml->at < maximumText) return false;
        int64_t end = next != NULL ? next - xml->bytes : xml->count;
        text(xml, end);
        xml->at = end;
        return true;
    }
    if (xml->at + 1 < xml->count && (xml->bytes[xml->at + 1] == '!' || xml->bytes[xml->at + 1] == '?')) {
        int64_t end = special(xml);
        if (end < 0) return false;
        if (end > 0) {
            xml->at = end;
            return true;
        }
    }
    tag_outcome outcome = tagRead(&xml->reader, xml->bytes + xml->at, limit);
    if (outcome == tagIncomplete && !xml->last && xml->count - xml->at <= maximumTag) return false;
    if (outcome == tagWhole) {
        int64_t end = xml->reader.end - xml->bytes;
        if (xml->reader.isEnd) endTag(xml, xml->reader.name, xml->reader.nameLength);
        else wholeStartTag(xml);
        xml->at = end;
        return true;
    }
    const char *problem = outcome == tagMalformed ? xml->reader.problem : "a tag is longer than 1 MiB";
    int64_t end = nextTag(xml);
    if (end < 0) return false;
    end = endOfLine(xml, end);
    brokenTag(xml, end, problem);
    xml->at = end;
    return true;
}

/// Checks what follows the root: anything but white space, comments and instructions is noted, but not read.
static void afterRoot(healthbus_xml *xml) {
    while (xml->damage.extraLine == 0 && xml->at < xml->count) {
        const uint8_t *begin = xml->bytes + xml->at;
        if (xmlIsSpace(*begin)) {
            xml->at++;
            continue;
        }
        int64_t left = xml->count - xml->at;
        bool mayWait = !xml->last && *begin == '<';
        if (left == 1 && mayWait) return;
        int64_t end = 0;
        if (*begin == '<' && left > 1 && (begin[1] == '?' || (begin[1] == '!' && (left == 2 || begin[2] == '-'))))
            end = special(xml);
        if (end < 0) return;
        if (end == 0) xml->damage.extraLine = lineAt(xml, xml->at);
        else xml->at = end;
    }
    // Nothing after the root is needed any more.
    if (xml->damage.extraLine > 0) xml->at = xml->count;
}

static bool parse(healthbus_xml *xml) {
    while (!xml->stopped && !xml->complete && xml->at < xml->count && step(xml)) continue;
    if (xml->complete && !xml->stopped) afterRoot(xml);
    return !xml->stopped && !xml->complete;
}

/// Makes room for the given number of further bytes; those already processed are dropped.
static bool makeRoom(healthbus_xml *xml, int64_t length) {
    lineAt(xml, xml->at);
    memmove(xml->bytes, xml->bytes + xml->at, (size_t)(xml->count - xml->at));
    xml->count -= xml->at;
    xml->counted -= xml->at;
    xml->searched -= xml->at;
    for (int i = 0; i < 3; i++) xml->endless[i] -= xml->at;
    xml->at = 0;
    if (xml->count + length <= xml->capacity) return true;
    int64_t capacity = 2 * xml->capacity > xml->count + length ? 2 * xml->capacity : xml->count + length;
    uint8_t *bytes = realloc(xml->bytes, (size_t)capacity);
    if (bytes != NULL) xml->bytes = bytes;
    uint8_t *scratch = realloc(xml->reader.scratch, (size_t)capacity);
    if (scratch != NULL) xml->reader.scratch = scratch;
    if (bytes == NULL || scratch == NULL) return false;
    xml->capacity = capacity;
    return true;
}

bool healthbus_xml_feed(healthbus_xml *xml, const uint8_t *bytes, int64_t length) {
    if (xml->stopped || xml->damage.extraLine > 0) return false;
    if (!makeRoom(xml, length)) {
        note(xml, "not enough memory", xml->line);
        xml->stopped = true;
        return false;
    }
    memcpy(xml->bytes + xml->count, bytes, (size_t)length);
    xml->count += length;
    return parse(xml);
}

void healthbus_xml_finish(healthbus_xml *xml) {
    xml->last = true;
    parse(xml);
    if (xml->at < xml->count || xml->depth > 0) lineAt(xml, xml->at);
}

void healthbus_xml_free(healthbus_xml *xml) {
    free(xml->bytes);
    free(xml->reader.scratch);
    free(xml->elements.text);
    free(xml->attributes.text);
    free(xml);
}

healthbus_xml *healthbus_xml_create(
    const char *elements, const char *attributes, healthbus_xml_callbacks callbacks, void *context) {
    healthbus_xml *xml = calloc(1, sizeof *xml);
    if (xml == NULL) return NULL;
    xml->capacity = 512 << 10;
    xml->bytes = malloc((size_t)xml->capacity);
    xml->reader.scratch = malloc((size_t)xml->capacity);
    xml->reader.attributeNames = &xml->attributes;
    xml->line = 1;
    xml->callbacks = callbacks;
    xml->context = context;
    if (xml->bytes == NULL || xml->reader.scratch == NULL || !nameListMake(&xml->elements, elements)
        || !nameListMake(&xml->attributes, attributes)) {
        healthbus_xml_free(xml);
        return NULL;
    }
    return xml;
}

void healthbus_xml_stop(healthbus_xml *xml) { xml->stopped = true; }

void healthbus_xml_collapse(healthbus_xml *xml, int32_t depth) {
    if (xml->depth - 1 <= depth) return;
    note(xml, "an element has no end tag", xml->line);
    xml->open[depth] = xml->open[xml->depth - 1];
    xml->depth = depth + 1;
}

bool healthbus_xml_complete(const healthbus_xml *xml) { return xml->complete; }

int64_t healthbus_xml_line(const healthbus_xml *xml) { return xml->line; }

healthbus_xml_damage healthbus_xml_get_damage(const healthbus_xml *xml) { return xml->damage; }
