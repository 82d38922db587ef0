// The program sees its own signal handlers, whichever way it sets and asks for them.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "recorded.h"

static int calls;
static void plain(int s) { calls += s; block(1); }
static void info(int s, siginfo_t *i, void *c) { (void)c; calls += i->si_signo == s; block(2); }

int main(void) {
  struct sigaction a, old;
  setvbuf(stdout, NULL, _IONBF, 0);
  memset(&a, 0, sizeof a);
  block(0);
  sigaction(SIGUSR1, NULL, &old);
  printf("default %d\n", old.sa_handler == SIG_DFL && !(old.sa_flags & SA_SIGINFO));
  printf("was default %d\n", signal(SIGUSR1, plain) == SIG_DFL);
  sigaction(SIGUSR1, NULL, &old);
  printf("plain %d restarts %d info %d\n", old.sa_handler == plain, !!(old.sa_flags & SA_RESTART), !!(old.sa_flags & SA_SIGINFO));
  a.sa_sigaction = info;
  a.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGUSR1, &a, &old);
  printf("replaced %d\n", old.sa_handler == plain);
  raise(SIGUSR1);
  printf("calls %d\n", calls);
  a.sa_handler = plain;
  a.sa_flags = SA_RESETHAND;
  sigaction(SIGUSR2, &a, NULL);
  raise(SIGUSR2);
  sigaction(SIGUSR2, NULL, &old);
  printf("for once %d\n", old.sa_handler == SIG_DFL);
  printf("ignored %d\n", signal(SIGUSR2, SIG_IGN) == SIG_DFL);
  raise(SIGUSR2);
  printf("bad %d\n", sigaction(SIGKILL, &a, NULL) == -1);
  signal(SIGUSR1, SIG_DFL);
  raise(SIGUSR1);
  puts("not reached");
  return 0;
}
