// abort in a thread: SIGABRT, what was recorded is kept.
// MODE: verify
// NOTE: a signal ended the program
// EXPECT: signal 6
// COUNT: thread_create 1
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "turn.h"

static int a[100];
static void *work(void *arg) {
  turn_wait(1); // the creation is over
  for (int i = 0; i < 100; i++) a[i] = i;
  if (a[50] == 50) abort();
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
