// Six threads fork at the same time, again and again; each child locks, and its trace has what it needs to be read.
// MODE: verify
// TRACES: 121
// COUNT: fork 120
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static int bad;

static void *work(void *arg) {
  for (int i = 0; i < 20; i++) {
    int s;
    pthread_barrier_wait(&b);
    pid_t p = fork();
    if (p == 0) {
      static int x[64];
      for (int k = 0; k < 64; k++) x[k] = k;
      _exit(x[7] - 7);
    }
    waitpid(p, &s, 0);
    pthread_mutex_lock(&m);
    bad += s;
    pthread_mutex_unlock(&m);
  }
  return arg;
}

int main(void) {
  pthread_t t[6];
  pthread_barrier_init(&b, NULL, 6);
  for (int i = 0; i < 6; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 6; i++) pthread_join(t[i], NULL);
  printf("%d\n", bad);
  return 0;
}
