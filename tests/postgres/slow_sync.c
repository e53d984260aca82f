/* A disk whose syncs take $SLOW_SYNC_US microseconds longer: preloaded into a server by tests and benches. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int slowly(const char *name, int file) {
    const char *delay = getenv("SLOW_SYNC_US");
    usleep(delay ? (useconds_t)atol(delay) : 0);
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fdatasync(int file) { return slowly("fdatasync", file); }
int fsync(int file) { return slowly("fsync", file); }
