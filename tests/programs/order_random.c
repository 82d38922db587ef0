// Rounds in which threads use locks at random: several objects in one cache line, bursts of one owner, owners that end,
// objects that are destroyed and made anew at their address. Each object's sections log their order; the graph must have
// it. Another seed is another program.
// MODE: verify
// CHECK: log-order
// ARGS: 40 1
// LEVELS: O2
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MUTEX, RECURSIVE, SPIN, RWLOCK, SEMAPHORE, SWAPPED, EXCHANGED, COUNTED, KINDS };
enum { EACH = 3, OBJECTS = KINDS * EACH, MOST = 1 << 17, THREADS = 4 };

static pthread_mutex_t mutexes[EACH], recursives[EACH];
static pthread_spinlock_t spins[EACH];
static pthread_rwlock_t rwlocks[EACH];
static sem_t semaphores[EACH];
static atomic_int swapped[EACH], exchanged[EACH];
static atomic_uint drawn[EACH], served[EACH];
static int entries[OBJECTS][MOST], counts[OBJECTS];

static unsigned draw(unsigned *state, unsigned below) {
  *state ^= *state << 13, *state ^= *state >> 17, *state ^= *state << 5;
  return *state % below;
}

static void make(int object, int again) {
  int i = object % EACH;
  pthread_mutexattr_t kind;
  switch (object / EACH) {
  case MUTEX:
    if (again) pthread_mutex_destroy(&mutexes[i]);
    pthread_mutex_init(&mutexes[i], 0);
    break;
  case RECURSIVE:
    if (again) pthread_mutex_destroy(&recursives[i]);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursives[i], &kind);
    break;
  case SPIN:
    if (again) pthread_spin_destroy(&spins[i]);
    pthread_spin_init(&spins[i], 0);
    break;
  case RWLOCK:
    if (again) pthread_rwlock_destroy(&rwlocks[i]);
    pthread_rwlock_init(&rwlocks[i], 0);
    break;
  case SEMAPHORE:
    if (again) sem_destroy(&semaphores[i]);
    sem_init(&semaphores[i], 0, 1);
    break;
  }
}

static void take(int object, int tries) {
  int i = object % EACH, free = 0;
  switch (object / EACH) {
  case MUTEX:
    while (tries && pthread_mutex_trylock(&mutexes[i])) sched_yield();
    if (!tries) pthread_mutex_lock(&mutexes[i]);
    break;
  case RECURSIVE:
    pthread_mutex_lock(&recursives[i]);
    if (tries) pthread_mutex_lock(&recursives[i]), pthread_mutex_unlock(&recursives[i]);
    break;
  case SPIN:
    while (tries && pthread_spin_trylock(&spins[i])) sched_yield();
    if (!tries) pthread_spin_lock(&spins[i]);
    break;
  case RWLOCK:
    if (tries) pthread_rwlock_rdlock(&rwlocks[i]), pthread_rwlock_unlock(&rwlocks[i]);
    pthread_rwlock_wrlock(&rwlocks[i]);
    break;
  case SEMAPHORE:
    while (tries && sem_trywait(&semaphores[i])) sched_yield();
    if (!tries) sem_wait(&semaphores[i]);
    break;
  case SWAPPED:
    while (!atomic_compare_exchange_strong_explicit(&swapped[i], &free, 1, memory_order_acquire, memory_order_relaxed))
      free = 0, sched_yield();
    break;
  case EXCHANGED:
    while (atomic_exchange(&exchanged[i], 1)) sched_yield();
    break;
  case COUNTED: {
    unsigned mine = atomic_fetch_add_explicit(&drawn[i], 1, memory_order_relaxed);
    while (atomic_load_explicit(&served[i], memory_order_acquire) != mine) sched_yield();
    break;
  }
  }
}

static void give(int object) {
  int i = object % EACH;
  switch (object / EACH) {
  case MUTEX: pthread_mutex_unlock(&mutexes[i]); break;
  case RECURSIVE: pthread_mutex_unlock(&recursives[i]); break;
  case SPIN: pthread_spin_unlock(&spins[i]); break;
  case RWLOCK: pthread_rwlock_unlock(&rwlocks[i]); break;
  case SEMAPHORE: sem_post(&semaphores[i]); break;
  case SWAPPED: atomic_store_explicit(&swapped[i], 0, memory_order_release); break;
  case EXCHANGED: atomic_store(&exchanged[i], 0); break;
  case COUNTED: atomic_fetch_add_explicit(&served[i], 1, memory_order_release); break;
  }
}

// Only to be called by who has the object.
__attribute__((noinline)) static void section(int object, int who) {
  if (counts[object] < MOST) entries[object][counts[object]++] = who;
}

static void use(unsigned *state, int who) {
  int object = (int)draw(state, OBJECTS), inner = (int)draw(state, OBJECTS);
  int times = draw(state, 4) ? 1 : (int)draw(state, 200);
  for (int i = 0; i < times; i++) {
    take(object, draw(state, 8) == 0);
    section(object, who);
    // In one order of objects, so that nobody waits for ever.
    if (inner > object && draw(state, 4) == 0) {
      take(inner, 0);
      section(inner, who);
      give(inner);
    }
    give(object);
  }
  if (draw(state, 16) == 0) usleep(draw(state, 200));
  if (draw(state, 8) == 0) sched_yield();
}

static void *work(void *arg) {
  unsigned state = *(unsigned *)arg;
  for (int i = 0; i < 40; i++) use(&state, (int)(state & 0xff));
  return 0;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  unsigned state = argc > 2 ? (unsigned)atoi(argv[2]) * 2654435761u | 1 : 1;
  for (int object = 0; object < OBJECTS; object++) make(object, 0);
  for (int round = 0; round < rounds; round++) {
    pthread_t threads[THREADS];
    unsigned seeds[THREADS], used = 2 + draw(&state, THREADS - 1);
    for (unsigned i = 0; i < used; i++) {
      seeds[i] = draw(&state, 1u << 31) | 1;
      pthread_create(&threads[i], 0, work, &seeds[i]);
      if (draw(&state, 2)) use(&state, 0);
    }
    for (unsigned i = 0; i < used; i++) {
      pthread_join(threads[i], 0);
      if (draw(&state, 2)) use(&state, 0);
    }
    for (int object = 0; object < OBJECTS; object++)
      if (draw(&state, 8) == 0) make(object, 1);
  }
  int all = 0;
  for (int object = 0; object < OBJECTS; object++) {
    printf("sections %p %d %zu\n", (void *)entries[object], counts[object], sizeof entries[0][0]);
    all += counts[object];
  }
  return all ? 0 : 1;
}
