// A spawned function ends by a jump, and the program goes on.
#include <contech/cilk.h>
#include <setjmp.h>

static jmp_buf back;

__attribute__((noinline)) static void deep(volatile int *count) {
  ++*count;
  longjmp(back, 1);
}

static void jump(volatile int *count) {
  deep(count);
  ++*count;
}

__attribute__((noinline)) static int after(volatile int *count) { return *count != 1; }

int main(void) {
  volatile int count = 0;
  if (setjmp(back) == 0) cilk_spawn(jump, &count);
  cilk_sync;
  return after(&count);
}
