// Four threads count bytes of a text in one table, under one lock.
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, BYTES = 200000 };
static unsigned char text[BYTES];
static unsigned count[256];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *part(void *argument) {
  long from = (long)argument * BYTES / THREADS, to = from + BYTES / THREADS;
  for (long i = from; i < to; i++) {
    pthread_mutex_lock(&lock);
    count[text[i]]++;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < BYTES; i++) text[i] = (unsigned char)rand();
  pthread_t thread[THREADS];
  for (long t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, part, (void *)t);
  for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
  return count[0] == 0;
}
