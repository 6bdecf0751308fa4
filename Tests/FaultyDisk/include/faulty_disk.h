#pragma once

// A disk that fails when it is asked to: an SQLite VFS around the default one. Files outside watched folders aren't
// touched. A watched folder's files belong to one thread.

/// What a file's operations do from a given one on.
enum faulty_disk_kind {
    FAULTY_DISK_FULL = 1,   // a write finds no room
    FAULTY_DISK_SHORT,      // a write is cut off half way, and fails
    FAULTY_DISK_WRITE,      // a write fails
    FAULTY_DISK_SYNC,       // a sync fails
    FAULTY_DISK_READ,       // a read fails
    FAULTY_DISK_DEAD,       // nothing is written any more: the machine or the process has ended within this write
};

/// Makes it the VFS of all connections that are opened from now on.
int faulty_disk_install(void);
/// Watches, or forgets, all files whose path begins with this.
void faulty_disk_watch(const char *folder);
void faulty_disk_forget(const char *folder);

/// Lets operations on a database and its log fail: `after` of them succeed first, then `times` of them fail (-1: all,
/// until it is healed).
void faulty_disk_fail(const char *path, int kind, int after, int times);
void faulty_disk_heal(const char *path);

/// From now on, syncs of these files are lost: the disk says that they are durable when they aren't.
void faulty_disk_lie(const char *path, int lies);
/// Ends all writing to the files, as a kill does; the connections can then be closed without a trace.
void faulty_disk_freeze(const char *path);
/// What is on the disk after a loss of power: of the writes since the last sync, a random part is there; of those of a
/// disk that lied, all up to a moment. Connections must be closed. Returns how many writes were lost.
int faulty_disk_lose_power(const char *path, unsigned long long seed);
/// Everything that was written is there, as after a kill.
void faulty_disk_thaw(const char *path);
