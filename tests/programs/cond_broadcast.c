// One broadcast wakes three waiters; every wake follows the broadcast.
// MODE: verify
// COUNT: cond_release 3
// COUNT: cond_wake 3
// COUNT: cond_reacquire 3
// COUNT: cond_broadcast 1
// COUNT: thread_create 3
// COUNT: thread_join 3
// EDGE: cond_broadcast -> cond_wake 3
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int go, woken;
static volatile int tid[3];

static void *work(void *arg) {
  int i = (int)(long)arg;
  tid[i] = turn_tid();
  pthread_mutex_lock(&m);
  turn_set(i + 1);
  while (!go) pthread_cond_wait(&c, &m);
  woken++;
  pthread_mutex_unlock(&m);
  return NULL;
}

int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) {
    pthread_create(&t[i], NULL, work, (void *)(long)i);
    turn_wait(i + 1);
    turn_wait_asleep(tid[i]);
  }
  pthread_mutex_lock(&m);
  go = 1;
  pthread_cond_broadcast(&c);
  pthread_mutex_unlock(&m);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  printf("%d\n", woken);
  return 0;
}
