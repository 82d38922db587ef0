// abort in a thread: SIGABRT, what was recorded is kept.
// MODE: verify
// EXPECT: signal 6
// COUNT: thread_create 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int a[100];
static void *work(void *arg) {
  for (int i = 0; i < 100; i++) a[i] = i;
  if (a[50] == 50) abort();
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
