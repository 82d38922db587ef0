// Semaphores: the n-th successful wait follows the post that made it possible; failing try and timed
// waits leave no edge.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "turn.h"

static sem_t s;
static int busy, late, x;
static volatile int tid;

static void *work(void *arg) {
  struct timespec past = {1, 0};
  busy = sem_trywait(&s) == -1 && errno == EAGAIN;
  late = sem_timedwait(&s, &past) == -1 && errno == ETIMEDOUT;
  tid = turn_tid();
  turn_set(1);
  sem_wait(&s);
  x += 1;
  return arg;
}

int main(void) {
  pthread_t t;
  sem_init(&s, 0, 1);
  sem_wait(&s); // the initial value: no post to follow
  pthread_create(&t, NULL, work, NULL);
  turn_wait(1);
  turn_wait_asleep(tid);
  x = 1;
  sem_post(&s);
  pthread_join(t, NULL);
  sem_post(&s);
  int ok = sem_trywait(&s) == 0;
  sem_destroy(&s);
  printf("%d %d %d %d\n", busy, late, ok, x);
  return 0;
}
