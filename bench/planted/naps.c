// Threads that sleep between pieces of work.
#include <unistd.h>
#include "common.h"
static uint64_t $cells[MOST_THREADS][4096];
static void $body(int t) {
  for (int i = 0; i < 20; i++) {
#ifndef MENDED
    usleep(15000); // PLANTED: io
#endif
    $noise(t);
    for (int k = 0; k < 4096; k++) $cells[t][k] += $work((uint64_t)k, 400);
  }
}
int main(int argc, char **argv) {
  team(thread_count(argc, argv, "THREADS"), $body);
  printf("%lu\n", (unsigned long)$cells[0][0]);
}
