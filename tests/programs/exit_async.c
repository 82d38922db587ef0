// Threads that could be cancelled asynchronously but leave by themselves: nothing is lost.
// MODE: verify
#include <pthread.h>
#include <stdio.h>
#include <threads.h>

static int counter;

static void async(void) {
  int old;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
  for (int i = 0; i < 100; i++) counter++;
}

static void *returns(void *arg) {
  async();
  return arg;
}

static void *exits(void *arg) {
  async();
  pthread_exit(arg);
}

static int exits11(void *arg) {
  async();
  thrd_exit(arg != NULL);
}

int main(void) {
  pthread_t t;
  thrd_t u;
  pthread_create(&t, NULL, returns, NULL);
  pthread_join(t, NULL);
  pthread_create(&t, NULL, exits, NULL);
  pthread_join(t, NULL);
  thrd_create(&u, exits11, NULL);
  thrd_join(u, NULL);
  printf("%d\n", counter);
  return 0;
}
