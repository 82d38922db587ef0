// Atomic operations in signal handlers, which interrupt atomic operations on the same variable of their thread:
// nothing hangs, nothing is lost. They also interrupt the creation of the thread.
// MODE: verify
// LEVELS: O0 O2
// COUNT: atomic_rmw 60100
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

static atomic_long x, handled;
static long counted;

static void on_alarm(int s) {
  (void)s;
  if (atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed) < 100) {
    atomic_fetch_add(&x, 1000000);
    counted++;
  }
}

static void *work(void *arg) {
  for (int i = 0; i < 30000; i++) atomic_fetch_add(&x, 1);
  return arg;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 20}, {0, 20}}, never = {{0, 0}, {0, 0}};
  pthread_t t;
  setitimer(ITIMER_REAL, &every, NULL);
  pthread_create(&t, NULL, work, NULL);
  work(NULL);
  pthread_join(t, NULL);
  while (atomic_load_explicit(&handled, memory_order_relaxed) < 100) {}
  setitimer(ITIMER_REAL, &never, NULL);
  return x == 60000 + 100000000 ? 0 : 1;
}
