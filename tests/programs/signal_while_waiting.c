// The program waits in a system call that goes on after each signal, and handlers do all the work. What they record is
// written meanwhile: the process grows by a few buffers, not with the number of handlers.
// MODE: verify
// LEVELS: O0 O2
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SIGNALS = 10000, WORDS = 300, MOST_KIB = 32 << 10 };

static int ends[2];
static atomic_int handled;
static volatile long words[WORDS];

static void on_usr1(int s) {
  (void)s;
  for (int i = 0; i < WORDS; i++) words[(i * 7) % WORDS] += i;
  if (++handled == SIGNALS) write(ends[1], "x", 1);
}

static void *ask(void *arg) {
  for (int sent = 0; sent < SIGNALS; sent++) {
    pthread_kill(*(pthread_t *)arg, SIGUSR1);
    while (handled <= sent) usleep(1);
  }
  return 0;
}

static long resident(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_usr1, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  if (pipe(ends)) return 2;
  pthread_t self = pthread_self(), asker;
  long before = resident();
  if (pthread_create(&asker, NULL, ask, &self)) return 3;
  char c;
  if (read(ends[0], &c, 1) != 1) return 4;
  long after = resident();
  pthread_join(asker, NULL);
  return after - before < MOST_KIB ? 0 : 1;
}
