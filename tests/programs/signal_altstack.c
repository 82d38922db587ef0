// A handler on an alternate stack catches SIGSEGV of an instrumented store and leaves by siglongjmp.
// What the faulting function had recorded since its last call is lost, and the trace says so.
// MODE: incomplete
// LEVELS: O0 O2
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sigjmp_buf env;
static volatile int caught;
static void handler(int sig) {
  caught++;
  siglongjmp(env, sig);
}

int main(void) {
  stack_t s;
  struct sigaction a;
  memset(&s, 0, sizeof s);
  memset(&a, 0, sizeof a);
  s.ss_size = 65536;
  s.ss_sp = malloc(s.ss_size);
  sigaltstack(&s, NULL);
  a.sa_handler = handler;
  a.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &a, NULL);
  for (volatile int i = 0; i < 5; i++) {
    int *volatile p = NULL;
    if (sigsetjmp(env, 1) == 0) *p = i;
  }
  printf("%d\n", caught);
  return 0;
}
