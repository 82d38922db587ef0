// A handler on an alternate stack with room for the kernel's frame, its own 4 KiB and another one: it fills buffers, locks
// and operates on an atomic variable. What the recorder does meanwhile, it does on a stack of its own.
// MODE: verify
// ENV: CONTECH_BUFFER=32K
// COUNT: mutex_lock 53
// COUNT: atomic_rmw 53
// LEVELS: O0 O2
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int handled;
static volatile long cells[64];

static void work(int n) {
  volatile char locals[4096];
  unsigned random = n;
  pthread_mutex_lock(&m);
  for (int i = 0; i < 5000; i++) {
    random = random * 1664525 + 1013904223;
    if (random >> 29 & 1) cells[random >> 20 & 63] += locals[random >> 20] = i;
  }
  pthread_mutex_unlock(&m);
  atomic_fetch_add(&handled, 1);
}

static char *context_of_kernel;
static void handler(int signal, siginfo_t *about, void *context) {
  context_of_kernel = context;
  work(signal);
}

// Sets an alternate stack; the page below it cannot be used. Returns its upper end.
static char *set_stack(long size) {
  char *stack = mmap(0, 1 << 17, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack += 4096;
  mprotect(stack, (size + 4095) & -4096, PROT_READ | PROT_WRITE);
  const stack_t alternate = {.ss_sp = stack, .ss_size = size};
  sigaltstack(&alternate, NULL);
  return stack + size;
}

static void *thread(void *bytes) {
  set_stack((long)bytes);
  // The dynamic linker needs a stack, too, when it looks for a function.
  work(1);
  for (int i = 0; i < 25; i++) raise(SIGUSR1);
  return bytes;
}

int main(void) {
  const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_ONSTACK | SA_SIGINFO};
  sigaction(SIGUSR1, &action, NULL);
  char *top = set_stack(1 << 16);
  raise(SIGUSR1);
  long size = top - context_of_kernel + 4096 + 1024;
  for (int i = 0; i < 2; i++) {
    pthread_t t;
    pthread_create(&t, NULL, thread, (void *)size);
    pthread_join(t, NULL);
  }
  printf("%d\n", handled);
}
