// Not fork-join: a thread runs instrumented code, which no serial profile can hold.
#include <contech/cilk.h>
#include <pthread.h>
#include <stdio.h>

__attribute__((noinline)) static long work(long n) {
  volatile long sum = 0;
  for (long i = 0; i < n; i++) sum += i;
  return sum;
}

static void *thread(void *argument) {
  work((long)argument);
  return 0;
}

int main(void) {
  pthread_t id;
  pthread_create(&id, 0, thread, (void *)1000);
  printf("%ld\n", work(1000));
  return pthread_join(id, 0);
}
