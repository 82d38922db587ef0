// Two threads that only take and release one mutex: argv[1] thousand times each.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;
static long times;
static void *work(void *unused) {
  (void)unused;
  for (long i = 0; i < times; i++) {
    pthread_mutex_lock(&lock);
    sum += (unsigned long)i;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
int main(int argc, char **argv) {
  times = 1000 * (argc > 1 ? atol(argv[1]) : 1);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%lu\n", sum);
}
