// _exit(11) from a thread: nothing runs any more, the trace is whole all the same.
// MODE: verify
// EXPECT: exit 11
// COUNT: thread_create 1
// NATIVE: turn.c
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "turn.h"

static void never(void) { write(1, "never\n", 6); }
static void *work(void *arg) {
  turn_wait(1); // the creation is over
  write(1, "work\n", 5);
  _exit(11);
  return arg;
}

int main(void) {
  pthread_t t;
  atexit(never);
  pthread_create(&t, NULL, work, NULL);
  turn_set(1);
  pthread_join(t, NULL);
  return 0;
}
