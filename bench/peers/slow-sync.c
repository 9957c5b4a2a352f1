/* Preloaded, it makes each sync of a file take SLOW_SYNC_MICROSECONDS longer, as on a slower disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int sync_slowly(const char *name, int file) {
  const char *delay = getenv("SLOW_SYNC_MICROSECONDS");
  if (delay != NULL) usleep(atoi(delay));
  int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return sync(file);
}

int fsync(int file) { return sync_slowly("fsync", file); }
int fdatasync(int file) { return sync_slowly("fdatasync", file); }
