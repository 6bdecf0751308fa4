// The floor for reading an archive: libarchive inflates one file from it, in blocks, and the bytes are thrown away.
//
//   cc -O2 Benchmarks/floors/unzip.c -o /tmp/unzip-floor -larchive
//   /tmp/unzip-floor export.zip apple_health_export/export.xml
//
// Prints bytes.

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: unzip export.zip NAME\n"), 2;
    struct archive *archive = archive_read_new();
    archive_read_support_format_zip(archive);
    if (archive_read_open_filename(archive, arguments[1], 256 * 1024) != ARCHIVE_OK)
        return fprintf(stderr, "%s: %s\n", arguments[1], archive_error_string(archive)), 1;
    struct archive_entry *entry;
    while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
        if (strcmp(archive_entry_pathname(entry), arguments[2]) != 0) continue;
        long bytes = 0;
        const void *block;
        size_t length;
        la_int64_t offset;
        int result;
        while ((result = archive_read_data_block(archive, &block, &length, &offset)) == ARCHIVE_OK) bytes += (long)length;
        if (result != ARCHIVE_EOF) return fprintf(stderr, "%s: %s\n", arguments[1], archive_error_string(archive)), 1;
        printf("%ld bytes\n", bytes);
        archive_read_free(archive);
        return 0;
    }
    return fprintf(stderr, "%s has no %s\n", arguments[1], arguments[2]), 1;
}
