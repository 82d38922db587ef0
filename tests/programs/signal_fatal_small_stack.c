// A fault on an alternate stack of one page: the trace is finished all the same, on a stack of its own.
// MODE: verify
// EXPECT: signal 11
// NOTE: a signal ended the program
// COUNT: mutex_lock 100
// LEVELS: O0 O2
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  // The pages around cannot be used.
  char *memory = mmap(0, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + 4096, 4096, PROT_READ | PROT_WRITE);
  const stack_t stack = {.ss_sp = memory + 4096, .ss_size = 4096};
  if (sigaltstack(&stack, 0))
    return 1;
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  raise(SIGSEGV);
  return 0;
}
