// Handlers of two signals interrupt each other and the code around them, take a lock if it is free, count, and post a
// semaphore: also between a release and the return from it, while the other thread's handler takes the lock, and
// within the operations of the code on the same variable. The order of lock, counter and semaphore holds.
// MODE: verify
// LEVELS: O0 O2
// REPEAT: 2
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

static pthread_mutex_t theirs = PTHREAD_MUTEX_INITIALIZER, ours = PTHREAD_MUTEX_INITIALIZER;
static atomic_int handled;
static sem_t posted;
static long taken, counted;

static void on_signal(int s) {
  (void)s;
  if (!pthread_mutex_trylock(&ours)) {
    taken++;
    pthread_mutex_unlock(&ours);
  }
  atomic_fetch_add(&handled, 1);
  sem_post(&posted);
}

static void *work(void *arg) {
  while (atomic_load(&handled) < 1500) {
    sem_trywait(&posted);
    pthread_mutex_lock(&theirs);
    counted++;
    pthread_mutex_unlock(&theirs);
  }
  return arg;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  struct itimerval every = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  sigset_t both;
  pthread_t t[2];
  sem_init(&posted, 0, 0);
  sigaction(SIGALRM, &action, 0);
  sigaction(SIGPROF, &action, 0);
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
  sigemptyset(&both);
  sigaddset(&both, SIGALRM);
  sigaddset(&both, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &both, 0);
  setitimer(ITIMER_REAL, &every, 0);
  setitimer(ITIMER_PROF, &every, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  setitimer(ITIMER_REAL, &never, 0);
  setitimer(ITIMER_PROF, &never, 0);
  return taken > 0 && counted > 0 ? 0 : 1;
}
