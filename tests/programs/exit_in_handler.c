// A signal handler ends the program while threads end. Everything they did before they met main is in the graph.
// MODE: verify
// EXPECT: exit 10
// COUNT: mutex_lock 8
// REPEAT: 10
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t meeting;
static volatile long values[64];
static long met;

static void *work(void *arg) {
  pthread_mutex_lock(&m);
  met++;
  pthread_mutex_unlock(&m);
  pthread_barrier_wait(&meeting);
  for (long i = 0; i < (long)arg; i++) values[i & 63] += i;
  return 0;
}

static void on_signal(int s) {
  values[0] += s;
  exit(10);
}

int main(void) {
  pthread_t t;
  signal(SIGTERM, on_signal);
  pthread_barrier_init(&meeting, 0, 9);
  for (long i = 0; i < 8; i++) {
    pthread_create(&t, 0, work, (void *)(i * 300));
    pthread_detach(t);
  }
  pthread_barrier_wait(&meeting);
  raise(SIGTERM);
  return met != 8;
}
