// What keeps it from scaling is planted; work is sleep, so that a busy machine measures the same.
// planted THREADS fixed|lock|imbalance|serial|barriers|different|short: 400 ms of work.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int threads;
static const char *variant;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void work(int ms) {
  usleep(ms * 1000);
}

static void *body(void *argument) {
  int t = (int)(long)argument, steps = 40 / threads;
  if (!strcmp(variant, "lock")) {
    for (int i = 0; i < steps; i++) {
      pthread_mutex_lock(&mutex);
      work(10);
      pthread_mutex_unlock(&mutex);
      // Else the same thread has it again before the other is awake.
      sched_yield(), usleep(100);
    }
  } else if (!strcmp(variant, "imbalance") && threads == 2) {
    work(t ? 320 : 80);
  } else if (!strcmp(variant, "serial")) {
    work(200 / threads);
  } else {
    work(400 / threads);
  }
  return NULL;
}

int main(int argc, char **argv) {
  threads = argc > 1 ? atoi(argv[1]) : 1;
  variant = argc > 2 ? argv[2] : "fixed";
  if (!strcmp(variant, "short")) return puts("done"), 0;
  if (!strcmp(variant, "serial")) work(200);
  pthread_t made[16];
  for (int t = 0; t < threads && t < 16; t++) pthread_create(&made[t], NULL, body, (void *)(long)t);
  for (int t = 0; t < threads && t < 16; t++) pthread_join(made[t], NULL);
  if (!strcmp(variant, "different")) printf("%d threads\n", threads);
  return puts("done"), 0;
}
