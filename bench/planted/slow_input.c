// The input comes from a pipe, slower than it is used.
#include <unistd.h>
#include "common.h"
static int $ends[2];
static uint64_t $items[400], $sums[MOST_THREADS][8];
static int threads;
static void *$sender(void *unused) {
  (void)unused;
  for (uint64_t i = 0; i < 400; i++) {
#ifndef MENDED
    usleep(1000); // PLANTED: io
#endif
    if (write($ends[1], &i, sizeof i) != sizeof i) exit(1);
  }
  return NULL;
}
static void $receive(void) {
  for (int i = 0; i < 400; i++)
    if (read($ends[0], &$items[i], sizeof $items[i]) != sizeof $items[i]) exit(1); // PLANTED: io
}
static void $body(int t) {
  for (long i = share(400, threads, t); i < share(400, threads, t + 1); i++) $noise(t), $sums[t][0] += $work($items[i], ~150000);
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  pthread_t id;
  if (pipe($ends) || pthread_create(&id, NULL, $sender, NULL)) return 1;
  $receive();
  pthread_join(id, NULL);
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
