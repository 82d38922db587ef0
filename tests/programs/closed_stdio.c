// A program that closes every descriptor it does not know (as daemons do) keeps its trace.
// MODE: verify
// COUNT: thread_create 1
#include <pthread.h>
#include <unistd.h>

static void *work(void *arg) { return arg; }

int main(void) {
  pthread_t t;
  for (int fd = 3; fd < 256; fd++) close(fd);
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  write(1, "done\n", 5);
  return 0;
}
