#pragma once
// One tag, read from a stretch of memory.

#include "xml_names.h"
#include "include/xml_stream.h"

enum { maximumExtras = 32 };

typedef enum { tagWhole, tagIncomplete, tagMalformed } tag_outcome;

typedef struct {
    const name_list *attributeNames;
    /// Room for decoded values: at least as many bytes as a tag may have.
    uint8_t *scratch;
    healthbus_xml_text values[maximumNames];
    healthbus_xml_text extras[2 * maximumExtras];

    // These describe the tag that was read last.
    bool isEnd;
    bool isEmpty;
    uint64_t present;
    int32_t extraCount;
    /// The name without its prefix.
    const uint8_t *name;
    int64_t nameLength;
    /// The position just after the attributes.
    const uint8_t *bodyEnd;
    /// The position just after the tag.
    const uint8_t *end;
    int64_t dropped;
    /// What is wrong with a malformed tag.
    const char *problem;
} tag_reader;

/// Reads the tag at `begin`, which is a '<'. Nothing at `limit` or beyond is examined.
tag_outcome tagRead(tag_reader *reader, const uint8_t *begin, const uint8_t *limit);

bool xmlIsSpace(uint8_t byte);
bool xmlIsNameStart(uint8_t byte);
/// Length of the name at `begin`.
int64_t xmlNameLength(const uint8_t *begin, const uint8_t *limit);
/// Length of a reference at an '&' (`&amp;`, `&#9;`, `&any;`); 0 when it isn't one.
int64_t xmlReferenceLength(const uint8_t *begin, const uint8_t *limit);
