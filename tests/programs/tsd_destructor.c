// pthread_key destructors run instrumented code (and set the key again) after the thread's function ended.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <stdio.h>

static pthread_key_t key;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int calls;

static void destroy(void *arg) {
  pthread_mutex_lock(&m);
  calls++;
  if (calls < 3) pthread_setspecific(key, arg);
  pthread_mutex_unlock(&m);
}

static void *work(void *arg) {
  pthread_setspecific(key, arg);
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_key_create(&key, destroy);
  pthread_create(&t, NULL, work, &calls);
  pthread_join(t, NULL);
  printf("%d\n", calls);
  return 0;
}
