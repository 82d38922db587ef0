// Ends by exit inside a spawned function.
#include <contech/cilk.h>
#include <stdlib.h>

__attribute__((noinline)) static void done(volatile int *count) { ++*count; }

static void leave(volatile int *count) {
  done(count);
  exit(*count == 1 ? 3 : 4);
}

int main(void) {
  volatile int count = 0;
  cilk_spawn(leave, &count);
  cilk_sync;
  return 1;
}
