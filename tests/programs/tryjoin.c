// pthread_tryjoin_np fails (EBUSY) while the thread runs and succeeds later; pthread_timedjoin_np times out.
// MODE: golden
// LEVELS: O0 O2
// NATIVE: turn.c
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "turn.h"

static void *work(void *arg) {
  turn_wait(1);
  return arg;
}

int main(void) {
  pthread_t t;
  struct timespec soon;
  int r;
  pthread_create(&t, NULL, work, NULL);
  printf("%d\n", pthread_tryjoin_np(t, NULL) == EBUSY);
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_nsec = (soon.tv_nsec + 1000000) % 1000000000;
  printf("%d\n", pthread_timedjoin_np(t, NULL, &soon) == ETIMEDOUT);
  turn_set(1);
  do r = pthread_tryjoin_np(t, NULL);
  while (r == EBUSY);
  printf("%d\n", r);
  return 0;
}
