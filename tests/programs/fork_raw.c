// Children that no function of the C library announces (_Fork, system calls) fill buffers, lock and end: they are not
// recorded, and the trace of their parent has what the parent did and nothing else.
// MODE: verify
// ENV: CONTECH_BUFFER=32K
// COUNT: mutex_lock 5
// COUNT: mutex_unlock 5
// COUNT: thread_create 1
#define _GNU_SOURCE
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern pid_t _Fork(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long cells[64], sum;

static void work(long n) {
  pthread_mutex_lock(&m);
  unsigned random = 1;
  for (long i = 0; i < n; i++) {
    random = random * 1664525 + 1013904223;
    if (random >> 29 & 1) cells[random >> 20 & 63]++;
    sum += cells[random >> 8 & 63];
  }
  pthread_mutex_unlock(&m);
}

static void *thread(void *arg) {
  work((long)arg);
  return NULL;
}

static pid_t copy(int way) {
#ifdef SYS_fork
  if (way == 1) return (pid_t)syscall(SYS_fork);
#endif
  if (way == 2) return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (way == 3) {
    struct clone_args args = {.exit_signal = SIGCHLD};
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
  }
  return _Fork();
}

int main(void) {
  pthread_t t;
  int s, bad = 0;
  for (int way = 0; way < 4; way++) {
    work(10);
    pid_t p = copy(way);
    if (p == 0) {
      work(200000);
      if (way % 2) exit(cells[0] == 0);
      _exit(cells[0] == 0);
    }
    waitpid(p, &s, 0);
    bad += s;
  }
  pthread_create(&t, NULL, thread, (void *)50000);
  pthread_join(t, NULL);
  printf("%d\n", bad);
  return 0;
}
