// exec while four threads fill one small buffer after the other: the trace ends where the program was replaced.
// MODE: verify
// ENV: CONTECH_BUFFER=32K
// COUNT: thread_create 4
// NATIVE: turn.c
// LEVELS: O2
// REPEAT: 3
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "turn.h"

static volatile long sums[4][64];

static void *run(void *arg) {
  volatile long *sum = sums[(long)arg];
  for (long i = 0;; i++) {
    if (i % 3) sum[i * i & 63] += i;
    if (i == 100000) turn_set(1);
  }
  return arg;
}

int main(void) {
  for (long i = 0; i < 4; i++) {
    pthread_t t;
    pthread_create(&t, NULL, run, (void *)i);
  }
  puts("before");
  fflush(stdout);
  turn_wait(1);
  execl("/bin/echo", "echo", "after", (char *)NULL);
  return 1;
}
