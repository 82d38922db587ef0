// A thread with asynchronous cancellation cancelled in the middle of a loop of instrumented code. Nobody knows
// where: what it had recorded since its last call is lost, and the trace says so.
// MODE: incomplete
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static volatile unsigned long counter;

static void *work(void *arg) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  turn_set(1);
  for (;;) counter++;
  return arg;
}

int main(void) {
  pthread_t t;
  void *r;
  pthread_create(&t, NULL, work, NULL);
  turn_wait(1);
  while (counter < 1000) {
  }
  pthread_cancel(t);
  pthread_join(t, &r);
  printf("%d\n", r == PTHREAD_CANCELED);
  return 0;
}
