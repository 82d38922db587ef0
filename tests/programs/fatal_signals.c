// Fatal signals that are not faults: a child per signal (TERM, INT, HUP, FPE by division, ILL, PIPE, XCPU)
// reports the status the shell would see.
// MODE: verify
// TRACES: 8
// LEVELS: O0 O2
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int zero, x = 5;

int main(void) {
  int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGFPE, SIGILL, SIGPIPE, SIGUSR1};
  for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    fflush(stdout);
    pid_t p = fork();
    if (p == 0) {
      if (signals[i] == SIGFPE) x = x / zero;
      if (signals[i] == SIGILL) __builtin_trap();
      raise(signals[i]);
      _exit(1);
    }
    int s;
    waitpid(p, &s, 0);
    printf("%d %d\n", WIFSIGNALED(s), WTERMSIG(s));
  }
  return 0;
}
