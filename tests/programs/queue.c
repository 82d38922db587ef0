// A bounded queue with two producers and two consumers: mutex and two condition variables, thousands of waits.
// MODE: verify
// COUNT: thread_create 4
// LEVELS: O0 O2
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int slot[4], head, tail;
static long sum;

static void *produce(void *arg) {
  for (int i = 0; i < 2000; i++) {
    pthread_mutex_lock(&m);
    while (head - tail == 4) pthread_cond_wait(&not_full, &m);
    slot[head++ % 4] = i;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&m);
  }
  return arg;
}
static void *consume(void *arg) {
  for (int i = 0; i < 2000; i++) {
    pthread_mutex_lock(&m);
    while (head == tail) pthread_cond_wait(&not_empty, &m);
    sum += slot[tail++ % 4];
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&m);
  }
  return arg;
}

int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, i % 2 ? produce : consume, NULL);
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  printf("%ld\n", sum);
  return 0;
}
