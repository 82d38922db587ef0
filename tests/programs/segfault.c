// A null pointer is written in a thread: SIGSEGV, what was recorded is kept.
// MODE: verify
// EXPECT: signal 11
// COUNT: thread_create 1
#include <pthread.h>
#include <stdio.h>

static void *work(void *arg) {
  int *volatile p = arg;
  *p = 1;
  return arg;
}

int main(void) {
  pthread_t t;
  puts("start");
  fflush(stdout);
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  return 0;
}
