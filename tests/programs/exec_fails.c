// exec of a file that does not exist fails; the program and its recording go on.
// MODE: golden
// LEVELS: O0 O2
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *work(void *arg) { return arg; }

int main(void) {
  pthread_t t;
  printf("%d %d\n", execl("/nonexistent/program", "x", (char *)NULL), errno == ENOENT);
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  return 0;
}
