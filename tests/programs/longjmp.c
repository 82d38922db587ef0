// setjmp and longjmp over several instrumented frames, sigsetjmp, longjmp in a thread.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

static __thread jmp_buf env;
static __thread sigjmp_buf senv;

__attribute__((noinline)) static void down(int depth, int value) {
  volatile int local[4] = {depth, value, 0, 0};
  if (depth == 0) longjmp(env, local[1]);
  down(depth - 1, value);
  local[2]++;
}

static void *work(void *arg) {
  volatile int seen = 0;
  for (volatile int i = 1; i <= 3; i++) {
    int r = setjmp(env);
    if (r == 0)
      down(i * 5, i);
    else
      seen = seen * 10 + r;
  }
  if (sigsetjmp(senv, 1) == 0) siglongjmp(senv, 1);
  *(int *)arg = seen;
  return NULL;
}

int main(void) {
  int a = 0, b = 0;
  pthread_t t;
  work(&a);
  pthread_create(&t, NULL, work, &b);
  pthread_join(t, NULL);
  printf("%d %d\n", a, b);
  return 0;
}
