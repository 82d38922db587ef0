// 200 threads alive at once, each with a little work and a shared counter under a mutex.
// MODE: verify
// COUNT: thread_create 200
// COUNT: thread_join 200
// COUNT: mutex_lock 400
// COUNT: mutex_unlock 400
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static long sum;
static void *work(void *arg) {
  int a[64];
  for (int i = 0; i < 64; i++) a[i] = i + (int)(long)arg;
  pthread_barrier_wait(&b);
  for (int r = 0; r < 2; r++) {
    pthread_mutex_lock(&m);
    sum += a[r + 3];
    pthread_mutex_unlock(&m);
  }
  return NULL;
}

int main(void) {
  pthread_t t[200];
  pthread_barrier_init(&b, NULL, 200);
  for (int i = 0; i < 200; i++) pthread_create(&t[i], NULL, work, (void *)(long)i);
  for (int i = 0; i < 200; i++) pthread_join(t[i], NULL);
  printf("%ld\n", sum);
  return 0;
}
