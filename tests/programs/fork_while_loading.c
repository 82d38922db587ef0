// A process forks while another thread loads and closes a library again and again. The children have not that thread, but
// perhaps the locks that it held in the dynamic linker: what records them may not need those.
// MODE: verify
// LEVELS: O1
// PLUGIN: dlopen_plugin.c
// TRACES: 25
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int done;
static volatile long cells[64];

static void *load(void *n) {
  while (!done) {
    void *h = dlopen("./dlopen_plugin.so", RTLD_NOW);
    if (!h) break;
    dlclose(h);
  }
  return n;
}

int main(void) {
  pthread_t t;
  int sum = 0, status;
  pthread_create(&t, NULL, load, NULL);
  for (int i = 0; i < 24; i++) {
    pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 64; k++) cells[k] += k * i;
      _exit(cells[1]);
    }
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status);
  }
  done = 1;
  pthread_join(t, NULL);
  printf("%d\n", sum);
  return sum != 276;
}
