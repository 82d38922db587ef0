// A thread sleeps in pthread_mutex_lock until main unlocks: the edge runs from that unlock.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static pthread_mutex_t m;
static volatile int tid;
static int x;

static void *work(void *arg) {
  tid = turn_tid();
  turn_set(1);
  pthread_mutex_lock(&m);
  x *= 2;
  pthread_mutex_unlock(&m);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_mutex_init(&m, NULL);
  pthread_mutex_lock(&m);
  pthread_create(&t, NULL, work, NULL);
  turn_wait(1);
  turn_wait_asleep(tid);
  x = 21;
  pthread_mutex_unlock(&m);
  pthread_join(t, NULL);
  pthread_mutex_destroy(&m);
  printf("%d\n", x);
  return 0;
}
