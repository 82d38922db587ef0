// exec by the system call: the trace is closed before, as it is by the functions of the C library.
// MODE: verify
// COUNT: mutex_lock 100
// LEVELS: O0 O2
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  char *const arguments[] = {"true", 0};
  char *const environment[] = {0};
  return (int)syscall(SYS_execve, "/bin/true", arguments, environment);
}
