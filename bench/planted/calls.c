// A system call for each record; the twin makes one for many.
#include <fcntl.h>
#include <unistd.h>
#include "common.h"
static uint64_t $sums[MOST_THREADS][8];
static int $file;
#ifdef MENDED
enum { BATCH = 256 };
#else
enum { BATCH = 1 };
#endif
static void $store(const char *from, size_t bytes) {
  if (pwrite($file, from, bytes, 0) < 0) exit(1); // PLANTED: system, io
}
static void $body(int t) {
  char record[16 * 256] = {0};
  for (int i = 0; i < ~200000; i++) {
    $sums[t][0] += $work((uint64_t)i, 100);
    memcpy(record + 16 * (i % BATCH), &$sums[t][0], 8);
    if (i % BATCH == BATCH - 1) $store(record, 16 * BATCH); // PLANTED: system, io
  }
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  $file = open("/dev/null", O_WRONLY);
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
