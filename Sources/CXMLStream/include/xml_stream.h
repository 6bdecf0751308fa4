#pragma once
// A push parser for the XML of exports, which continues after damage: a tag that isn't well-formed affects only itself.
//
// '<' can't occur within a well-formed tag. So a broken tag ends, at the latest, where the next whole tag begins:
// nothing after that is lost, and nothing is read twice. General parsers give up here, or guess, taking the next tag
// for part of the broken one.
//
// The caller names the elements and attributes it knows; each is reported by its index ("code"), so that names needn't
// be compared for every record. It accepts no document type, no entity but XML's own five, and never uses the network:
// feed it the document starting at its root element.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct healthbus_xml healthbus_xml;

/// Why a tag or a text can't be read.
typedef enum {
    healthbus_xml_fine,
    /// It isn't well-formed.
    healthbus_xml_form,
    /// It contains zero bytes where a disk or a broken copy lost content.
    healthbus_xml_zeros,
    /// It contains bytes that aren't UTF-8.
    healthbus_xml_foreign,
    /// It refers to an entity that isn't one of XML's five.
    healthbus_xml_entity,
} healthbus_xml_fault;

/// UTF-8 text, not terminated, valid only during the callback.
typedef struct {
    const char *bytes;
    int64_t length;
} healthbus_xml_text;

typedef struct {
    /// Index into the element names, or -1.
    int32_t code;
    /// Open elements above this one; 0 for the root.
    int32_t depth;
    /// Bit i is set if the attribute with code i is present.
    uint64_t present;
    /// By attribute code; only those in `present` are valid.
    const healthbus_xml_text *attributes;
    /// Attributes with other names: name, value, name, value, ...
    const healthbus_xml_text *extras;
    int32_t extraCount;
    /// The tag isn't well-formed: it has no attributes here, and `raw` is the whole tag, up to a '>' at the end of a
    /// line or, failing that, up to where the next tag begins.
    bool malformed;
    /// Why it is malformed.
    healthbus_xml_fault fault;
    /// The element has no end tag of its own: its end is reported immediately after its start.
    bool empty;
    /// The line where the tag begins.
    int64_t line;
    healthbus_xml_text name;
    /// The start tag as it was in the input, without its closing bracket unless it is malformed.
    healthbus_xml_text raw;
} healthbus_xml_element;

typedef struct {
    void (* start)(void *_Nullable context, const healthbus_xml_element * element);
    /// Code and depth of the element that ends. `implied`: its end tag is missing.
    void (* end)(void *_Nullable context, int32_t code, int32_t depth, bool implied);
    /// Character data; NULL when text isn't wanted.
    void (*_Nullable text)(void *_Nullable context, const char * bytes, int64_t length);
    /// Text where only elements are expected, or a broken tag that begins no element; NULL to ignore both. Returns true
    /// if the text counts as damage; for a tag, the result is ignored.
    bool (*_Nullable stray)(void *_Nullable context, int64_t line, const char * bytes, int64_t length);
} healthbus_xml_callbacks;

typedef struct {
    /// Why the document isn't well-formed: the first error; empty if there was none.
    char message[160];
    int64_t line;
    /// How many such errors there were.
    int64_t errors;
    /// How many references weren't kept: those in attributes that XML forbids, which become '?', and those that come
    /// first in text where only elements are expected (`stray`), whatever they stand for.
    int64_t dropped;
    /// How many tags and texts held zero bytes, and the first one's line.
    int64_t zeros;
    int64_t zerosLine;
    /// The line where anything but white space, comments and instructions follows the root; 0 if nothing does.
    int64_t extraLine;
} healthbus_xml_damage;

/// Names are separated by single spaces and copied; at most 64 of each. NULL when there are more, or memory is short.
healthbus_xml *_Nullable healthbus_xml_create(
    const char *elements, const char *attributes, healthbus_xml_callbacks callbacks, void *_Nullable context);
void healthbus_xml_free(healthbus_xml * xml);

/// Returns false once parsing can't continue (see damage) or the root has ended. Whatever follows the root may still be
/// fed, so that it is checked.
bool healthbus_xml_feed(healthbus_xml * xml, const uint8_t * bytes, int64_t length);
/// Ends the input: the rest is reported as far as possible.
void healthbus_xml_finish(healthbus_xml * xml);
/// Called from a callback: no more callbacks follow this one.
void healthbus_xml_stop(healthbus_xml * xml);
/// Called from `start`: the open elements from that depth on have no end tags, and the one that starts takes their
/// place at that depth. No callback is made for them.
void healthbus_xml_collapse(healthbus_xml * xml, int32_t depth);
/// Whether the root element has ended.
bool healthbus_xml_complete(const healthbus_xml * xml);
int64_t healthbus_xml_line(const healthbus_xml * xml);
healthbus_xml_damage healthbus_xml_get_damage(const healthbus_xml * xml);

/// Why a cleaned text can't be read: zero bytes, bytes that weren't UTF-8, or unknown entities.
healthbus_xml_fault healthbus_xml_fault_of(const char * bytes, int64_t length);

/// Makes bytes valid UTF-8 in place: control characters become spaces, and bytes that aren't UTF-8 become U+0001 (both
/// are counted in `replaced`). Zero bytes stay: they and U+0001 are marks, and no tag that contains one is well-formed.
/// Returns how many bytes are done. The remaining ones, at most three, are the beginning of a character that the next
/// bytes continue (none remain if `last`).
int64_t healthbus_xml_clean(uint8_t * bytes, int64_t length, bool last, int64_t * replaced);

#pragma clang assume_nonnull end
