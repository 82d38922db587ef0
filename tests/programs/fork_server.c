// A server that forks a child for each request and waits for it: each has a trace of its own, with what it did.
// MODE: verify
// TRACES: 6
// COUNT: fork 5
// COUNT: mutex_lock 5
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  int served = 0;
  for (int i = 0; i < 5; i++) {
    pid_t child = fork();
    if (child == 0) {
      pthread_mutex_lock(&m);
      pthread_mutex_unlock(&m);
      _exit(7);
    }
    int status = 0;
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7) served++;
  }
  return served == 5 ? 0 : 1;
}
