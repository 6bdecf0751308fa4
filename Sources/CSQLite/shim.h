#include <sqlite3.h>

// SQLITE_TRANSIENT and SQLITE_STATIC are casts that Swift's importer can't read.
static inline int healthbus_bind_text(sqlite3_stmt *s, int i, const char *p, int n) {
    // An empty buffer may have no address, which would bind NULL, but an empty text is a value.
    return n == 0 ? sqlite3_bind_text(s, i, "", 0, SQLITE_STATIC) : sqlite3_bind_text(s, i, p, n, SQLITE_TRANSIENT);
}
static inline int healthbus_bind_blob(sqlite3_stmt *s, int i, const void *p, int n) {
    // A null pointer would bind NULL, but an empty blob is a value.
    return n == 0 ? sqlite3_bind_zeroblob(s, i, 0) : sqlite3_bind_blob(s, i, p, n, SQLITE_TRANSIENT);
}

static inline void healthbus_result_text(sqlite3_context *c, const void *p, int n) {
    sqlite3_result_text(c, n == 0 ? "" : (const char *)p, n, SQLITE_TRANSIENT);
}

// A copy that SQLite frees. sqlite3_mprintf is variadic, which Swift can't call.
static inline char *healthbus_copy(const char *text) { return sqlite3_mprintf("%s", text); }

// 1 when the file isn't at its path any more, -1 when that can't be determined.
static inline int healthbus_has_moved(sqlite3 *db) {
    int moved = 0;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK ? moved : -1;
}

// sqlite3_config is variadic in C, which Swift can't call.
static inline int healthbus_disable_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
