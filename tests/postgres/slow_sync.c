/* A disk whose syncs take $SLOW_SYNC_US microseconds longer: preloaded into a server by tests and benches.
 *
 * Of syncs of the write-ahead log (a path with "pg_wal"), each is also written to the file $SLOW_SYNC_LOG, as the
 * nanoseconds of CLOCK_MONOTONIC at which it was asked for and at which it was done; and the next one fails with EIO,
 * after nothing was synced, where a file $SLOW_SYNC_FAIL is there, which it removes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static int is_wal(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    return strstr(path, "pg_wal/") != NULL;
}

static void record(long long begun) {
    const char *path = getenv("SLOW_SYNC_LOG");
    int out = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (out < 0)
        return;
    char line[64];
    int length = snprintf(line, sizeof line, "%lld %lld\n", begun, now());
    if (write(out, line, length) != length)
        abort();
    close(out);
}

static int slowly(const char *name, int file) {
    const char *delay = getenv("SLOW_SYNC_US"), *fails = getenv("SLOW_SYNC_FAIL");
    long long begun = now();
    int wal = (fails || getenv("SLOW_SYNC_LOG")) && is_wal(file);
    long delay_us = delay ? atol(delay) : 0;
    struct timespec left = {delay_us / 1000000, delay_us % 1000000 * 1000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) /* a signal to the server shortens no sync */
        ;
    if (wal && fails && unlink(fails) == 0) {
        errno = EIO;
        return -1;
    }
    int result = ((int (*)(int))dlsym(RTLD_NEXT, name))(file), error = errno;
    if (wal && result == 0)
        record(begun);
    errno = error;
    return result;
}

int fdatasync(int file) { return slowly("fdatasync", file); }
int fsync(int file) { return slowly("fsync", file); }
