// A thread waits for a mutex while its holder works on: the acquire comes after the release, however early the thread
// began to wait.
// MODE: golden
// LEVELS: O0 O2
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *work(void *arg) {
  pthread_mutex_lock(&m);
  shared++;
  pthread_mutex_unlock(&m);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_mutex_lock(&m);
  if (pthread_create(&t, NULL, work, NULL)) return 2;
  usleep(50000);
  shared++;
  pthread_mutex_unlock(&m);
  pthread_join(t, NULL);
  return shared == 2 ? 0 : 1;
}
