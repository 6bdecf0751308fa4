// The floor for storing samples: bare SQLite, one table with a rowid and one unique index, rows like samples, each
// commit synced.
//
//   cc -O2 Benchmarks/floors/insert.c -o /tmp/insert-floor -lsqlite3
//   /tmp/insert-floor new.sqlite 1000000
//
// 10,000 rows per transaction, in the order of an export: type by type, each by time. Prints the number of rows and the
// size of the file.

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *database;

static void check(int result) {
    if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE) return;
    fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static void run(const char *statement) { check(sqlite3_exec(database, statement, NULL, NULL, NULL)); }

static uint64_t state = 0x9E3779B97F4A7C15;

static uint64_t number(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: insert FILE ROWS\n"), 2;
    long rows = atol(arguments[2]);
    check(sqlite3_open(arguments[1], &database));
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=FULL");
    run("CREATE TABLE samples (seq INTEGER PRIMARY KEY, user INTEGER NOT NULL, type INTEGER NOT NULL, second INTEGER NOT NULL,"
        " duration INTEGER NOT NULL, value REAL, origin INTEGER NOT NULL, flags INTEGER NOT NULL, id BLOB NOT NULL,"
        " unit INTEGER NOT NULL, created INTEGER NOT NULL)");
    run("CREATE UNIQUE INDEX samples_identity ON samples (user, type, second, id)");
    sqlite3_stmt *insert;
    check(sqlite3_prepare_v2(database, "INSERT INTO samples VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?2, ?8)", -1, &insert, NULL));
    long types = 24, each = (rows + types - 1) / types;
    int64_t second = 0;
    for (long row = 0; row < rows; row++) {
        if (row % 10000 == 0) run("BEGIN");
        if (row % each == 0) second = 1700000000;
        second += (int64_t)(number() % 120);
        int64_t duration = (int64_t)(number() % 300) * 1000000;
        uint64_t id[2] = {__builtin_bswap64((uint64_t)second * 1000 << 16 | (number() & 0xFFFF)), number()};
        check(sqlite3_bind_int64(insert, 1, 1795192496137 + row));
        check(sqlite3_bind_int64(insert, 2, row / each));
        check(sqlite3_bind_int64(insert, 3, second));
        check(sqlite3_bind_int64(insert, 4, duration));
        check(sqlite3_bind_double(insert, 5, (double)(number() % 200000) / 1000));
        check(sqlite3_bind_int64(insert, 6, (int64_t)(number() % 4)));
        check(sqlite3_bind_blob(insert, 7, id, sizeof id, SQLITE_STATIC));
        check(sqlite3_bind_int64(insert, 8, second + 30));
        check(sqlite3_step(insert));
        check(sqlite3_reset(insert));
        if (row % 10000 == 9999 || row == rows - 1) run("COMMIT");
    }
    check(sqlite3_finalize(insert));
    check(sqlite3_close(database));
    FILE *file = fopen(arguments[1], "rb");
    if (file == NULL) return perror(arguments[1]), 1;
    fseek(file, 0, SEEK_END);
    printf("%ld rows, %ld bytes\n", rows, ftell(file));
    fclose(file);
    return 0;
}
