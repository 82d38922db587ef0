// exec of a plain program: the first file is closed cleanly, the status is the new program's.
// MODE: golden
// LEVELS: O0 O2
// EXPECT: exit 0
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *work(void *arg) { return arg; }

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  printf("before\n");
  fflush(stdout);
  execl("/bin/echo", "echo", "after", (char *)NULL);
  return 1;
}
