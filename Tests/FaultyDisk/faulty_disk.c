#include "faulty_disk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/// A write or truncation that no sync has made durable.
typedef struct Change {
    struct Change *before;
    /// Rises with each change of any file.
    unsigned long long number;
    sqlite3_int64 offset, size_before, size_after;
    int length, old_length;
    unsigned char *old, *new;
} Change;

/// A file, for as long as its folder is watched: connections come and go.
typedef struct Place {
    struct Place *next;
    char *path;
    Change *changes;
    /// Which file is there; if it was replaced, what was written to the one before doesn't matter.
    ino_t inode;
    int kind, after, times, lies, frozen;
} Place;

typedef struct Folder {
    struct Folder *next;
    char *path;
} Folder;

typedef struct File {
    sqlite3_file base;
    Place *place;
    sqlite3_file *real;
} File;

static sqlite3_vfs *usual;
static Place *places;
static Folder *folders;
static _Thread_local unsigned long long changes_made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int begins(const char *path, const char *with) { return strncmp(path, with, strlen(with)) == 0; }

/// The place with this path; made if its folder is watched.
static Place *place_of(const char *path) {
    if (!path) return NULL;
    pthread_mutex_lock(&lock);
    Place *place = places;
    while (place && strcmp(place->path, path)) place = place->next;
    if (!place) {
        Folder *folder = folders;
        while (folder && !begins(path, folder->path)) folder = folder->next;
        if (folder && (place = calloc(1, sizeof *place))) {
            place->path = strdup(path);
            place->next = places;
            places = place;
        }
    }
    pthread_mutex_unlock(&lock);
    return place;
}

static void forget_changes(Place *place) {
    for (Change *change = place->changes; change;) {
        Change *before = change->before;
        free(change->old);
        free(change->new);
        free(change);
        change = before;
    }
    place->changes = NULL;
}

/// Forgets the changes of a file that another has replaced.
static void look(Place *place) {
    struct stat status;
    ino_t inode = stat(place->path, &status) == 0 ? status.st_ino : 0;
    if (inode != place->inode) forget_changes(place);
    place->inode = inode;
}

/// Whether this operation fails now.
static int fails(Place *place, int kind) {
    if (!place || place->kind != kind) return 0;
    if (place->after > 0) {
        place->after--;
        return 0;
    }
    if (place->times == 0) return 0;
    if (place->times > 0) place->times--;
    return 1;
}

// MARK: Files

static int file_close(sqlite3_file *f) {
    File *file = (File *)f;
    return file->real->pMethods ? file->real->pMethods->xClose(file->real) : SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *into, int count, sqlite3_int64 offset) {
    File *file = (File *)f;
    if (fails(file->place, FAULTY_DISK_READ)) return SQLITE_IOERR_READ;
    return file->real->pMethods->xRead(file->real, into, count, offset);
}

static void note(File *file, sqlite3_int64 offset, const void *bytes, int count, sqlite3_int64 size_after) {
    sqlite3_int64 size = 0;
    file->real->pMethods->xFileSize(file->real, &size);
    Change *change = calloc(1, sizeof *change);
    if (!change) abort();
    change->number = ++changes_made;
    change->offset = offset;
    change->size_before = size;
    change->size_after = size_after < 0 ? (offset + count > size ? offset + count : size) : size_after;
    sqlite3_int64 end = size_after < 0 ? offset + count : size;
    sqlite3_int64 old = (end < size ? end : size) - offset;
    if (old > 0) {
        change->old = malloc(old);
        change->old_length = (int)old;
        file->real->pMethods->xRead(file->real, change->old, (int)old, offset);
    }
    if (count > 0) {
        change->new = malloc(count);
        change->length = count;
        memcpy(change->new, bytes, count);
    }
    change->before = file->place->changes;
    file->place->changes = change;
}

static int file_write(sqlite3_file *f, const void *bytes, int count, sqlite3_int64 offset) {
    File *file = (File *)f;
    Place *place = file->place;
    if (place) {
        if (fails(place, FAULTY_DISK_DEAD)) place->frozen = 1;
        if (place->frozen) return SQLITE_IOERR_WRITE;
        if (fails(place, FAULTY_DISK_FULL)) return SQLITE_FULL;
        if (fails(place, FAULTY_DISK_WRITE)) return SQLITE_IOERR_WRITE;
        if (fails(place, FAULTY_DISK_SHORT)) {
            note(file, offset, bytes, count / 2, -1);
            file->real->pMethods->xWrite(file->real, bytes, count / 2, offset);
            return SQLITE_IOERR_WRITE;
        }
        note(file, offset, bytes, count, -1);
    }
    return file->real->pMethods->xWrite(file->real, bytes, count, offset);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size) {
    File *file = (File *)f;
    if (file->place) {
        if (file->place->frozen) return SQLITE_IOERR_TRUNCATE;
        note(file, size, NULL, 0, size);
    }
    return file->real->pMethods->xTruncate(file->real, size);
}

static int file_sync(sqlite3_file *f, int flags) {
    File *file = (File *)f;
    Place *place = file->place;
    if (!place) return file->real->pMethods->xSync(file->real, flags);
    if (place->frozen) return SQLITE_IOERR_FSYNC;
    if (fails(place, FAULTY_DISK_SYNC)) return SQLITE_IOERR_FSYNC;
    // The machine itself never fails here, so nothing needs to reach its disk.
    if (!place->lies) forget_changes(place);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size) {
    File *file = (File *)f;
    return file->real->pMethods->xFileSize(file->real, size);
}
static int file_lock(sqlite3_file *f, int kind) {
    File *file = (File *)f;
    return file->real->pMethods->xLock(file->real, kind);
}
static int file_unlock(sqlite3_file *f, int kind) {
    File *file = (File *)f;
    return file->real->pMethods->xUnlock(file->real, kind);
}
static int file_reserved(sqlite3_file *f, int *out) {
    File *file = (File *)f;
    return file->real->pMethods->xCheckReservedLock(file->real, out);
}
static int file_control(sqlite3_file *f, int op, void *arg) {
    File *file = (File *)f;
    return file->real->pMethods->xFileControl(file->real, op, arg);
}
static int file_sector(sqlite3_file *f) {
    File *file = (File *)f;
    return file->real->pMethods->xSectorSize(file->real);
}
static int file_traits(sqlite3_file *f) {
    File *file = (File *)f;
    return file->real->pMethods->xDeviceCharacteristics(file->real);
}
static int file_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    File *file = (File *)f;
    return file->real->pMethods->xShmMap(file->real, page, size, extend, out);
}
static int file_map_lock(sqlite3_file *f, int offset, int n, int flags) {
    File *file = (File *)f;
    return file->real->pMethods->xShmLock(file->real, offset, n, flags);
}
static void file_barrier(sqlite3_file *f) {
    File *file = (File *)f;
    file->real->pMethods->xShmBarrier(file->real);
}
static int file_unmap(sqlite3_file *f, int removes) {
    File *file = (File *)f;
    return file->real->pMethods->xShmUnmap(file->real, removes && !(file->place && file->place->frozen));
}

// Version 2: no pages are mapped past the reads.
static const sqlite3_io_methods methods = {
    2, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock, file_reserved,
    file_control, file_sector, file_traits, file_map, file_map_lock, file_barrier, file_unmap, NULL, NULL,
};

// MARK: The file system

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *out) {
    (void)vfs;
    File *file = (File *)f;
    file->place = place_of(path);
    file->real = (sqlite3_file *)(file + 1);
    memset(file->real, 0, usual->szOsFile);
    int code = usual->xOpen(usual, path, file->real, flags, out);
    file->base.pMethods = file->real->pMethods ? &methods : NULL;
    if (file->place && code == SQLITE_OK) look(file->place);
    return code;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    (void)vfs;
    Place *place = place_of(path);
    if (place) {
        if (place->frozen) return SQLITE_IOERR_DELETE;
        forget_changes(place);
    }
    return usual->xDelete(usual, path, syncs);
}

static sqlite3_vfs disk;

int faulty_disk_install(void) {
    static int done;
    pthread_mutex_lock(&lock);
    int code = SQLITE_OK;
    if (!done) {
        usual = sqlite3_vfs_find(NULL);
        disk = *usual;
        disk.zName = "faulty";
        disk.pNext = NULL;
        disk.szOsFile = (int)sizeof(File) + usual->szOsFile;
        disk.xOpen = disk_open;
        disk.xDelete = disk_delete;
        code = sqlite3_vfs_register(&disk, 1);
        done = code == SQLITE_OK;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

void faulty_disk_watch(const char *path) {
    pthread_mutex_lock(&lock);
    Folder *folder = calloc(1, sizeof *folder);
    folder->path = strdup(path);
    folder->next = folders;
    folders = folder;
    pthread_mutex_unlock(&lock);
}

void faulty_disk_forget(const char *path) {
    pthread_mutex_lock(&lock);
    for (Folder **at = &folders; *at;) {
        Folder *folder = *at;
        if (!strcmp(folder->path, path)) {
            *at = folder->next;
            free(folder->path);
            free(folder);
        } else at = &folder->next;
    }
    for (Place **at = &places; *at;) {
        Place *place = *at;
        if (begins(place->path, path)) {
            *at = place->next;
            forget_changes(place);
            free(place->path);
            free(place);
        } else at = &place->next;
    }
    pthread_mutex_unlock(&lock);
}

// MARK: Faults

/// Calls it with the database and its log.
static void both(const char *path, void (*act)(Place *, const void *), const void *with) {
    Place *place = place_of(path);
    if (place) act(place, with);
    char log[4096];
    strncpy(log, path, sizeof log - 8);
    log[sizeof log - 8] = 0;
    strcat(log, "-wal");
    place = place_of(log);
    if (place) act(place, with);
}

static void set_fault(Place *place, const void *with) {
    const int *given = with;
    place->kind = given[0];
    place->after = given[1];
    place->times = given[2];
}
void faulty_disk_fail(const char *path, int kind, int after, int times) {
    int given[3] = {kind, after, times};
    both(path, set_fault, given);
}

static void heal(Place *place, const void *with) {
    (void)with;
    place->kind = 0;
}
void faulty_disk_heal(const char *path) { both(path, heal, NULL); }

static void lie(Place *place, const void *with) { place->lies = *(const int *)with; }
void faulty_disk_lie(const char *path, int lies) { both(path, lie, &lies); }

static void freeze(Place *place, const void *with) {
    (void)with;
    place->frozen = 1;
}
void faulty_disk_freeze(const char *path) { both(path, freeze, NULL); }

static void thaw(Place *place, const void *with) {
    (void)with;
    place->frozen = 0;
    place->kind = 0;
}
void faulty_disk_thaw(const char *path) { both(path, thaw, NULL); }

static unsigned long long next_number(unsigned long long *state) {
    unsigned long long z = (*state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

typedef struct Cut {
    unsigned long long state;
    /// The first change that is lost; all of them are at random if the disk didn't lie.
    unsigned long long first;
    int lost;
} Cut;

static int by_number(const void *a, const void *b) {
    unsigned long long x = (*(Change *const *)a)->number, y = (*(Change *const *)b)->number;
    return x < y ? -1 : x > y;
}

/// The number of the first change that is lost, among those of both files.
static void choose(Place *place, const void *with) {
    Cut *cut = (Cut *)with;
    look(place);
    for (Change *change = place->changes; change; change = change->before) {
        // Each of them is as likely to be the first as the others.
        if (next_number(&cut->state) % ++cut->lost == 0) cut->first = change->number;
    }
}

static void lose(Place *place, const void *with) {
    Cut *cut = (Cut *)with;
    int total = 0;
    for (Change *change = place->changes; change; change = change->before) total++;
    int file = total ? open(place->path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
        Change **all = calloc(total, sizeof *all);
        if (!all) abort();
        int at = 0;
        for (Change *change = place->changes; change; change = change->before) {
            all[at++] = change;
            if (change->old_length) (void)!pwrite(file, change->old, change->old_length, change->offset);
            (void)!ftruncate(file, change->size_before);
        }
        qsort(all, total, sizeof *all, by_number);
        for (at = 0; at < total; at++) {
            Change *change = all[at];
            int stays = place->lies ? change->number < cut->first : (int)(next_number(&cut->state) % 2);
            if (!stays) {
                cut->lost++;
                continue;
            }
            if (change->length) (void)!pwrite(file, change->new, change->length, change->offset);
            else (void)!ftruncate(file, change->size_after);
        }
        free(all);
        close(file);
    }
    forget_changes(place);
    place->lies = place->frozen = 0;
    place->kind = 0;
}

int faulty_disk_lose_power(const char *path, unsigned long long seed) {
    Cut cut = {seed, 0, 0};
    both(path, choose, &cut);
    cut.lost = 0;
    both(path, lose, &cut);
    return cut.lost;
}
