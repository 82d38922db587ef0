// fork with threads: parent and child both go on, lock, and create threads; each has its own trace.
// MODE: verify
// TRACES: 2
// EXPECT: exit 3
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *work(void *arg) {
  pthread_mutex_lock(&m);
  x += *(int *)arg;
  pthread_mutex_unlock(&m);
  return NULL;
}
static void round_(int n) {
  pthread_t t;
  pthread_create(&t, NULL, work, &n);
  pthread_join(t, NULL);
}

int main(void) {
  int s;
  round_(1);
  pid_t p = fork();
  if (p == 0) {
    round_(10);
    printf("child %d\n", x);
    fflush(stdout);
    _exit(3);
  }
  waitpid(p, &s, 0);
  round_(100);
  printf("parent %d\n", x);
  return WEXITSTATUS(s);
}
