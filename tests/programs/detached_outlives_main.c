// Detached threads still run instrumented code, and take locks, while main returns: the process ends at
// once with main's status, the file is whole.
// MODE: verify
// EXPECT: exit 5
// COUNT: thread_create 4
// NATIVE: turn.c
// REPEAT: 5
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long n;

static void *work(void *arg) {
  turn_set(1);
  for (;;) {
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 1000; i++) (*(volatile unsigned long *)arg)++;
  }
}

int main(void) {
  static unsigned long cell[4];
  for (int i = 0; i < 4; i++) {
    pthread_t t;
    pthread_create(&t, NULL, work, &cell[i]);
    pthread_detach(t);
  }
  turn_wait(1);
  puts("main returns");
  return 5;
}
