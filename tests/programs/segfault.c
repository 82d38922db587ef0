// A null pointer is written in a thread: SIGSEGV, what was recorded is kept; the last records of the running
// functions were in a register, so the graph says it is not whole.
// MODE: verify
// NOTE: a signal ended the program
// EXPECT: signal 11
// COUNT: thread_create 1
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static void *work(void *arg) {
  turn_wait(1); // the creation is over
  int *volatile p = arg;
  *p = 1;
  return arg;
}

int main(void) {
  pthread_t t;
  puts("start");
  fflush(stdout);
  pthread_create(&t, NULL, work, NULL);
  turn_set(1);
  pthread_join(t, NULL);
  return 0;
}
