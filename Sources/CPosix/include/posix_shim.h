// Narrow wrappers over what Swift can't call (macros, variadics, GNU extensions it doesn't import). Every function that
// can fail returns the negated errno, so that no caller reads errno too late.
#pragma once

#include <stdint.h>
#include <sys/types.h>

/// Opens (creates, 0600) a file and takes its exclusive lock without waiting. The descriptor closes on exec. The lock
/// is released when the descriptor is closed or when the process ends in any way. Returns the descriptor, or -errno
/// (-EWOULDBLOCK if another process holds the lock).
int healthbus_lock_file(const char *path);

/// Whether a process holds the lock on such a file, determined without writing to it: 1, 0 (also if there is no such
/// file), or -errno.
int healthbus_lock_is_held(const char *path);

/// Limits the number of glibc's malloc arenas (mallopt M_ARENA_MAX): by default each thread may get an arena of 64 MB
/// that never shrinks. Call it before the first thread starts. Returns 0, or -EINVAL.
int healthbus_limit_arenas(int count);

/// When a process started, in clock ticks since boot (field 22 of /proc/<pid>/stat): together with the id it identifies
/// one process even after the id is reused. Returns -ESRCH when there is no such process.
int64_t healthbus_process_start(pid_t pid);

/// posix_spawn with an empty signal mask, default dispositions, a process group of its own, and no descriptors beyond 0
/// to 2. A NULL `directory` means the caller's own. An `input` of -1 is /dev/null; `output` and `error` of -1 are
/// inherited; others must be 3 or above. Returns the pid, or -errno.
pid_t healthbus_spawn(
    char *const argv[], char *const envp[], const char *directory, int input, int output, int error);

/// The same, but in a session of its own, so that it outlives its terminal. It has nothing to read, and one descriptor
/// (3 or above) for its output.
pid_t healthbus_spawn_session(char *const argv[], char *const envp[], int output);

/// Makes a pipe whose ends close on exec: read end, write end. Returns 0 or -errno.
int healthbus_pipe(int ends[2]);

/// A descriptor that becomes readable when the process ends; closes on exec. Returns -errno on failure.
int healthbus_pidfd_open(pid_t pid);
/// Signals exactly that process, never a later one with the same id. Returns 0 or -errno.
int healthbus_pidfd_signal(int pidfd, int signal);

/// How a child ended.
struct healthbus_exit {
    /// Exit code, or -1 when a signal ended it.
    int code;
    /// The signal, or 0.
    int signal;
};

/// Reaps a child. Returns 1 with `exit` filled in, 0 when the child is still running (only without `block`), or -errno.
/// What is left of the child's process group is killed before the id is released, while the group's id can't yet belong
/// to another group.
int healthbus_wait(pid_t pid, int block, struct healthbus_exit *exit);

/// "Killed"; NULL for a number that isn't a signal. The string is static.
const char *healthbus_signal_name(int number);

/// An eventfd, non-blocking, closed on exec: readable once woken, until it is cleared. Returns -errno on failure.
int healthbus_wake_open(void);
/// May be called from any thread.
void healthbus_wake(int fd);
void healthbus_wake_clear(int fd);

/// Catches SIGINT and SIGTERM: each arrives as one byte (its number) on the descriptor returned, which is non-blocking
/// and closes on exec. SIGHUP and SIGPIPE are ignored until `healthbus_release_signals`. Only one user at a time: a
/// second one gets -EBUSY.
int healthbus_catch_signals(void);
/// As above, for a program that draws a screen: SIGHUP, SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH arrive too; only SIGPIPE
/// is ignored.
int healthbus_catch_screen_signals(void);
/// Stops this process as an uncaught SIGTSTP would; returns once it is continued.
void healthbus_suspend(void);
/// Restores the dispositions and closes the descriptor.
void healthbus_release_signals(void);

/// Opens a netlink socket that reports changed links, addresses and routes; it closes on exec. Returns -errno on
/// failure.
int healthbus_route_watch(void);
/// Waits for a change, and takes all notices that have arrived. A notice is only a hint: ask for the current state.
/// Returns 0, or -errno.
int healthbus_route_wait(int watch);
/// Ends a wait; may be called from any thread. The descriptor stays open.
void healthbus_route_end(int watch);
/// The interfaces of all routes in the main table that lead anywhere (IPv4, IPv6). Those of default routes come first;
/// an interface may occur more than once. Returns the number of interfaces, or -errno.
int healthbus_route_links(unsigned links[64]);
/// Returns 0, or -errno (-ENXIO: the link is gone).
int healthbus_link_name(unsigned link, char name[16]);

/// Whether a host is this machine: `localhost`, or an address of its loopback interface. A name that merely begins with
/// 127 isn't.
int healthbus_is_loopback(const char *host);
