// A lock keeps it from scaling; work is sleep, so that a busy machine measures the same.
// planted THREADS: 400 ms of work.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int threads;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *body(void *argument) {
  for (int i = 0; i < 40 / threads; i++) {
    pthread_mutex_lock(&mutex);
    usleep(10 * 1000);
    pthread_mutex_unlock(&mutex);
    // Else the same thread has it again before the other is awake.
    sched_yield(), usleep(100);
  }
  return argument;
}

int main(int argc, char **argv) {
  threads = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t made[16];
  for (int t = 0; t < threads && t < 16; t++) pthread_create(&made[t], NULL, body, NULL);
  for (int t = 0; t < threads && t < 16; t++) pthread_join(made[t], NULL);
  return puts("done"), 0;
}
