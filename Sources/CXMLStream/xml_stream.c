#define _GNU_SOURCE
#include "xml_stream.h"

#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <stdlib.h>
#include <string.h>

enum { maximumNames = 64, maximumExtras = 32, slotCount = 512 };

// libxml2 interns names in its dictionary: within one parser equal names are equal pointers. A slot remembers what a pointer stands for.
typedef struct {
    const xmlChar *name;
    int32_t element;
    int32_t attribute;
} slot;

typedef struct {
    char *text;
    const char *names[maximumNames];
    int32_t count;
} name_list;

struct healthbus_xml {
    xmlParserCtxtPtr parser;
    healthbus_xml_callbacks callbacks;
    void *context;
    name_list elements;
    name_list attributes;
    int32_t depth;
    bool stopped;
    bool complete;
    int64_t errorsBefore;
    healthbus_xml_damage damage;
    slot slots[slotCount];
    healthbus_xml_text values[maximumNames];
    healthbus_xml_text extras[2 * maximumExtras];
};

static bool split(name_list *list, const char *text) {
    list->text = strdup(text);
    if (list->text == NULL) return false;
    char *rest = NULL;
    for (char *name = strtok_r(list->text, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
        if (list->count == maximumNames) return false;
        list->names[list->count++] = name;
    }
    return true;
}

static int32_t find(const name_list *list, const xmlChar *name) {
    for (int32_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], (const char *)name) == 0) return i;
    return -1;
}

static const slot *lookup(healthbus_xml *xml, const xmlChar *name) {
    slot *entry = &xml->slots[((uintptr_t)name * 0x9E3779B97F4A7C15ull) >> 55];
    if (entry->name != name) {
        // Names that share a slot take turns; a lookup is then a search, never wrong.
        entry->name = name;
        entry->element = find(&xml->elements, name);
        entry->attribute = find(&xml->attributes, name);
    }
    return entry;
}

static void onStart(void *context, const xmlChar *localname, const xmlChar *prefix, const xmlChar *uri, int namespaceCount,
    const xmlChar **namespaces, int attributeCount, int defaultedCount, const xmlChar **attributes) {
    healthbus_xml *xml = context;
    if (xml->stopped) return;
    healthbus_xml_element element;
    element.code = lookup(xml, localname)->element;
    element.depth = xml->depth++;
    element.present = 0;
    element.extraCount = 0;
    for (int i = 0; i < attributeCount; i++, attributes += 5) {
        int32_t code = lookup(xml, attributes[0])->attribute;
        healthbus_xml_text value = {(const char *)attributes[3], attributes[4] - attributes[3]};
        if (code >= 0) {
            xml->values[code] = value;
            element.present |= 1ull << code;
        } else if (element.extraCount < maximumExtras) {
            xml->extras[2 * element.extraCount] =
                (healthbus_xml_text){(const char *)attributes[0], (int64_t)strlen((const char *)attributes[0])};
            xml->extras[2 * element.extraCount + 1] = value;
            element.extraCount++;
        } else {
            xml->damage.attributesDropped++;
        }
    }
    element.attributes = xml->values;
    element.extras = xml->extras;
    element.malformed = xml->damage.errors != xml->errorsBefore;
    xml->errorsBefore = xml->damage.errors;
    element.name = (healthbus_xml_text){(const char *)localname, (int64_t)strlen((const char *)localname)};

    // The parser stands behind the attributes. '<' can't occur in a well-formed tag, so the nearest one before is its beginning.
    xmlParserInputPtr input = xml->parser->input;
    element.line = input->line;
    const char *end = (const char *)input->cur;
    const char *begin = memrchr(input->base, '<', (size_t)(input->cur - input->base));
    if (begin == NULL) begin = end;
    element.raw = (healthbus_xml_text){begin, end - begin};
    for (const char *at = begin; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) element.line--;
    xml->callbacks.start(xml->context, &element);
}

static void onEnd(void *context, const xmlChar *localname, const xmlChar *prefix, const xmlChar *uri) {
    healthbus_xml *xml = context;
    if (xml->stopped) return;
    xml->depth--;
    xml->errorsBefore = xml->damage.errors;
    xml->callbacks.end(xml->context, lookup(xml, localname)->element, xml->depth);
    if (xml->depth == 0) xml->complete = true;
}

static void onText(void *context, const xmlChar *bytes, int length) {
    healthbus_xml *xml = context;
    if (!xml->stopped) xml->callbacks.text(xml->context, (const char *)bytes, length);
}

static void onError(void *context, xmlErrorPtr error) {
    healthbus_xml *xml = context;
    if (xml->stopped || error->level == XML_ERR_WARNING || error->domain == XML_FROM_NAMESPACE) return;
    if (error->code == XML_ERR_INVALID_CHARREF || error->code == XML_ERR_INVALID_CHAR
        || error->code == XML_ERR_UNDECLARED_ENTITY) {
        xml->damage.dropped++;
        return;
    }
    if (xml->damage.errors++ == 0) {
        xml->damage.line = error->line;
        // libxml2's message may quote content, which is private: keep only what kind of error it is.
        const char *what = "the XML isn't well-formed";
        switch (error->code) {
        case XML_ERR_TAG_NAME_MISMATCH: what = "an end tag doesn't match its start tag"; break;
        case XML_ERR_GT_REQUIRED: what = "a tag doesn't end"; break;
        case XML_ERR_SPACE_REQUIRED: what = "attributes aren't separated"; break;
        case XML_ERR_ATTRIBUTE_WITHOUT_VALUE:
        case XML_ERR_ATTRIBUTE_NOT_STARTED: what = "an attribute has no value"; break;
        case XML_ERR_ATTRIBUTE_NOT_FINISHED: what = "an attribute's value doesn't end, or is longer than 10 MB"; break;
        case XML_ERR_LT_IN_ATTRIBUTE: what = "'<' in an attribute's value"; break;
        case XML_ERR_ATTRIBUTE_REDEFINED: what = "an attribute occurs twice"; break;
        case XML_ERR_INTERNAL_ERROR: what = "nested too deeply, or a tag is longer than 10 MB"; break;
        case XML_ERR_NO_MEMORY: what = "not enough memory"; break;
        default: break;
        }
        strncpy(xml->damage.message, what, sizeof xml->damage.message - 1);
    }
}

void healthbus_xml_free(healthbus_xml *xml) {
    if (xml->parser != NULL) {
        if (xml->parser->myDoc != NULL) xmlFreeDoc(xml->parser->myDoc);
        xmlFreeParserCtxt(xml->parser);
    }
    free(xml->elements.text);
    free(xml->attributes.text);
    free(xml);
}

healthbus_xml *healthbus_xml_create(
    const char *elements, const char *attributes, healthbus_xml_callbacks callbacks, void *context) {
    healthbus_xml *xml = calloc(1, sizeof *xml);
    if (xml == NULL) return NULL;
    if (!split(&xml->elements, elements) || !split(&xml->attributes, attributes)) {
        healthbus_xml_free(xml);
        return NULL;
    }
    xml->callbacks = callbacks;
    xml->context = context;
    xmlSAXHandler handler;
    memset(&handler, 0, sizeof handler);
    handler.initialized = XML_SAX2_MAGIC;
    handler.startElementNs = onStart;
    handler.endElementNs = onEnd;
    if (callbacks.text != NULL) handler.characters = onText;
    handler.serror = onError;
    xml->parser = xmlCreatePushParserCtxt(&handler, xml, NULL, 0, NULL);
    if (xml->parser == NULL) {
        healthbus_xml_free(xml);
        return NULL;
    }
    // Recover: go on behind an error of form where that is possible. Without HUGE libxml2 bounds depth (256) and tags (10 MB).
    xmlCtxtUseOptions(xml->parser, XML_PARSE_RECOVER | XML_PARSE_NONET);
    return xml;
}

bool healthbus_xml_feed(healthbus_xml *xml, const uint8_t *bytes, int32_t length) {
    if (xml->stopped) return false;
    xmlParseChunk(xml->parser, (const char *)bytes, length, 0);
    return !xml->stopped && xml->parser->instate != XML_PARSER_EOF && xml->parser->disableSAX == 0;
}

void healthbus_xml_stop(healthbus_xml *xml) {
    xml->stopped = true;
    xmlStopParser(xml->parser);
}

bool healthbus_xml_complete(const healthbus_xml *xml) { return xml->complete; }

int64_t healthbus_xml_line(const healthbus_xml *xml) {
    return xml->parser->input != NULL ? xml->parser->input->line : 0;
}

healthbus_xml_damage healthbus_xml_get_damage(const healthbus_xml *xml) { return xml->damage; }
