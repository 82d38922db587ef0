// Eight children at once, each ending by exit; vfork and posix_spawn beside them.
// MODE: verify
// TRACES: 9
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int a[256];

int main(void) {
  int sum = 0, s;
  for (int i = 0; i < 8; i++) {
    if (fork() == 0) {
      for (int k = 0; k < 256; k++) a[k] = k * i;
      exit(a[3] / 3);
    }
  }
  for (int i = 0; i < 8; i++) {
    wait(&s);
    sum += WEXITSTATUS(s);
  }
  pid_t p = vfork();
  if (p == 0) _exit(4);
  waitpid(p, &s, 0);
  sum += 100 * WEXITSTATUS(s);
  char *argv[] = {"true", NULL};
  posix_spawnp(&p, "true", NULL, NULL, argv, environ);
  waitpid(p, &s, 0);
  printf("%d %d\n", sum, s);
  return 0;
}
