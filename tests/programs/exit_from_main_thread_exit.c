// main leaves by pthread_exit; the process goes on until the last thread ends, with status 0.
// MODE: golden
// LEVELS: O0 O2
// EXPECT: exit 0
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static pthread_t main_thread;
static void *work(void *arg) {
  int r = pthread_join(main_thread, NULL);
  printf("joined main %d\n", r);
  return arg;
}

int main(void) {
  pthread_t t;
  main_thread = pthread_self();
  pthread_create(&t, NULL, work, NULL);
  pthread_detach(t);
  pthread_exit(NULL);
}
