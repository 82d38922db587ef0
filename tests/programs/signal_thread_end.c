// Signals whose handler records arrive while threads begin and end, so also while the runtime takes leave of a thread:
// no handler may wait for what its own thread holds.
// MODE: verify
// LEVELS: O0 O2
// COUNT: thread_create 1000
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

enum { THREADS = 1000, AT_ONCE = 4 };

static atomic_long handled;
static long sums[THREADS];

static void on_alarm(int s) {
  (void)s;
  atomic_fetch_add(&handled, 1);
}

static void *work(void *arg) {
  long *sum = arg;
  for (int i = 0; i < 10; i++) *sum += i;
  return arg;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 30}, {0, 30}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  for (int first = 0; first < THREADS; first += AT_ONCE) {
    pthread_t t[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++)
      if (pthread_create(&t[i], NULL, work, &sums[first + i])) return 2;
    for (int i = 0; i < AT_ONCE; i++) pthread_join(t[i], NULL);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  for (int i = 0; i < THREADS; i++)
    if (sums[i] != 45) return 1;
  return 0;
}
