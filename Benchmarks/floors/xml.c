// The floor for any importer here: libxml2's SAX2 push parser over a file in 256 KiB chunks, with empty callbacks.
//
//   cc -O2 $(xml2-config --cflags) Benchmarks/floors/xml.c -o /tmp/xml-floor $(xml2-config --libs)
//   unzip -p export.zip apple_health_export/export.xml > /tmp/export.xml && /tmp/xml-floor /tmp/export.xml
//
// Prints the number of elements and of bytes, and the seconds.

#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static long elements;

static void start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaceCount,
    const xmlChar **namespaces, int count, int defaulted, const xmlChar **attributes) {
    elements++;
}

static void end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {}

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: xml export.xml\n"), 2;
    FILE *file = fopen(arguments[1], "rb");
    if (file == NULL) return perror(arguments[1]), 1;
    xmlSAXHandler handler;
    memset(&handler, 0, sizeof handler);
    handler.initialized = XML_SAX2_MAGIC;
    handler.startElementNs = start;
    handler.endElementNs = end;
    static char chunk[256 * 1024];
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&handler, NULL, NULL, 0, NULL);
    if (parser == NULL) return 1;
    long bytes = 0;
    size_t length;
    while ((length = fread(chunk, 1, sizeof chunk, file)) > 0) {
        xmlParseChunk(parser, chunk, (int)length, 0);
        bytes += (long)length;
    }
    xmlParseChunk(parser, NULL, 0, 1);
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("%ld elements, %ld bytes, %.3f s\n", elements, bytes,
        (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec));
    if (parser->myDoc != NULL) xmlFreeDoc(parser->myDoc);
    xmlFreeParserCtxt(parser);
    fclose(file);
    return 0;
}
