// Races between threads, each beside the program without it: `threads CASE racy|fixed`.
// The accesses of a case are in functions whose names begin with its name. What they share is visible to other files,
// so that no optimiser removes stores that nothing here reads, and the race with them.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fixed;
static pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
long x, y[2], sum, common;
int flag;
atomic_int aflag;
long *shared;

typedef void *(*body)(void *);

// Both bodies at once, each with its number.
static void both(body a, body b) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, a, (void *)0);
  pthread_create(&t[1], NULL, b, (void *)1);
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
}

static void *missing_lock(void *n) {
  if (fixed) pthread_mutex_lock(&m1);
  x++;
  if (fixed) pthread_mutex_unlock(&m1);
  return NULL;
}

static void *one_side_locks(void *n) {
  if (n || fixed) pthread_mutex_lock(&m1);
  x++;
  if (n || fixed) pthread_mutex_unlock(&m1);
  return NULL;
}

static void *wrong_mutex(void *n) {
  pthread_mutex_t *own = n && !fixed ? &m2 : &m1;
  pthread_mutex_lock(own);
  x++;
  pthread_mutex_unlock(own);
  return NULL;
}

static void *wrong_kind_of_lock(void *n) {
  if (n || fixed) pthread_mutex_lock(&m1); else pthread_spin_lock(&spin);
  x++;
  if (n || fixed) pthread_mutex_unlock(&m1); else pthread_spin_unlock(&spin);
  return NULL;
}

static void *after_the_unlock(void *n) {
  pthread_mutex_lock(&m1);
  if (fixed) y[0]++;
  pthread_mutex_unlock(&m1);
  if (!fixed) y[0]++;
  return NULL;
}

static void *missing_join_child(void *n) { x = 42; return NULL; }
static void missing_join(void) {
  pthread_t t;
  pthread_create(&t, NULL, missing_join_child, NULL);
  if (fixed) pthread_join(t, NULL);
  sum = x;
  if (!fixed) pthread_join(t, NULL);
}

static void *plain_flag_writer(void *n) {
  x = 7;
  if (fixed) atomic_store_explicit(&aflag, 1, memory_order_release);
  else flag = 1;
  return NULL;
}
static void *plain_flag_reader(void *n) {
  if (fixed ? atomic_load_explicit(&aflag, memory_order_acquire) : flag) sum = x;
  return NULL;
}

static void *relaxed_publication_writer(void *n) {
  x = 7;
  atomic_store_explicit(&aflag, 1, fixed ? memory_order_release : memory_order_relaxed);
  return NULL;
}
static void *relaxed_publication_reader(void *n) {
  for (;;) {
    int seen = fixed ? atomic_load_explicit(&aflag, memory_order_acquire) : atomic_load_explicit(&aflag, memory_order_relaxed);
    if (seen) break;
    usleep(200);
  }
  sum = x;
  return NULL;
}

static void *atomic_and_plain_counter(void *n) {
  if (!n || fixed) atomic_fetch_add(&aflag, 1);
  else *(int *)&aflag += 1;
  return NULL;
}

static void *shared_buffer(void *n) {
  static __thread long own;
  if (fixed) own = (long)n; else common = (long)n;
  return NULL;
}

static void *loop_variable_thread(void *p) { return (void *)*(long *)p; }
static void loop_variable(void) {
  pthread_t t[2];
  static long arguments[2];
  static long i;
  for (i = 0; i < 2; i++) {
    arguments[i] = i;
    pthread_create(&t[i], NULL, loop_variable_thread, fixed ? &arguments[i] : &i);
  }
  for (int k = 0; k < 2; k++) pthread_join(t[k], NULL);
}

static void *same_allocation(void *n) {
  long *own = fixed ? malloc(64) : shared;
  own[0] = (long)n;
  if (fixed) free(own);
  return NULL;
}
static void same_allocation_main(void) {
  shared = malloc(64);
  both(same_allocation, same_allocation);
  free(shared);
}

static void *reallocated(void *n) {
  long *own = fixed ? realloc(malloc(32), 4096) : shared;
  own[(long)n * fixed] = (long)n;
  if (fixed) free(own);
  return NULL;
}
static void reallocated_main(void) {
  shared = realloc(malloc(32), 4096);
  both(reallocated, reallocated);
  free(shared);
}

static void *condition_without_mutex_setter(void *n) {
  if (fixed) pthread_mutex_lock(&m1);
  flag = 1;
  if (fixed) pthread_mutex_unlock(&m1);
  pthread_cond_signal(&cond);
  return NULL;
}
static void *condition_without_mutex_waiter(void *n) {
  struct timespec soon;
  pthread_mutex_lock(&m1);
  while (!flag) {
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec = (soon.tv_nsec + 2000000) % 1000000000;
    pthread_cond_timedwait(&cond, &m1, &soon);
  }
  pthread_mutex_unlock(&m1);
  return NULL;
}

static void *signal_before_the_write_setter(void *n) {
  if (fixed) x = 1;
  sem_post(&sem);
  if (!fixed) x = 1;
  return NULL;
}
static void *signal_before_the_write_waiter(void *n) {
  sem_wait(&sem);
  sum = x;
  return NULL;
}

static void *missing_barrier(void *n) {
  y[n != NULL] = 1;
  if (fixed) pthread_barrier_wait(&barrier);
  if (!n) sum = y[1];
  return NULL;
}

static void *barrier_too_early(void *n) {
  if (!fixed) pthread_barrier_wait(&barrier);
  y[n != NULL] = 1;
  if (fixed) pthread_barrier_wait(&barrier);
  if (!n) sum = y[1];
  return NULL;
}

static void *write_under_a_read_lock(void *n) {
  if (fixed) pthread_rwlock_wrlock(&rwlock); else pthread_rwlock_rdlock(&rwlock);
  x++;
  pthread_rwlock_unlock(&rwlock);
  return NULL;
}

static void use_before_once_make(void) { x = 5; }
static void *use_before_once_reader(void *n) {
  if (fixed) pthread_once(&once, use_before_once_make);
  sum = x;
  return NULL;
}
static void *use_before_once_quiet(void *n) {
  pthread_once(&once, use_before_once_make);
  return (void *)x;
}

static void double_checked_make(void) {
  pthread_mutex_lock(&m1);
  if (!shared) shared = calloc(1, 8);
  pthread_mutex_unlock(&m1);
}
// Not `if (fixed || !shared)`: there the optimiser loads both at once, and races of a load that it makes where the
// source may not make it are not told.
static void *double_checked(void *n) {
  if (fixed) double_checked_make();
  else if (!shared) double_checked_make();
  return NULL;
}

struct { unsigned a : 4, b : 4; } bits;
unsigned char bytes[2];
static void *bits_of_one_byte(void *n) {
  if (fixed) bytes[n != NULL] = 1;
  else if (n) bits.a = 1;
  else bits.b = 1;
  return NULL;
}

static void *detached_child(void *n) {
  if (fixed) sem_wait(&sem);
  sum = x;
  atomic_store(&aflag, 1);
  return NULL;
}
static void detached_main(void) {
  pthread_t t;
  pthread_create(&t, NULL, detached_child, NULL);
  pthread_detach(t);
  x = 9;
  if (fixed) sem_post(&sem);
  while (!atomic_load(&aflag)) usleep(200);
}

char to[128];
static void *copy_over(void *n) {
  memset(to + (n ? (fixed ? 64 : 60) : 0), 1, 64);
  return NULL;
}

static void *freed_while_read_reader(void *n) {
  x = shared[0];
  if (fixed) sem_post(&sem);
  return NULL;
}

static void *freed_while_read_owner(void *n) {
  if (fixed) sem_wait(&sem);
  free(shared);
  return NULL;
}

static void freed_while_read(void) {
  shared = calloc(8, sizeof *shared);
  both(freed_while_read_reader, freed_while_read_owner);
}

int main(int argc, char **argv) {
  const char *name = argc > 2 ? argv[1] : "";
  fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
  pthread_spin_init(&spin, 0);
  pthread_barrier_init(&barrier, NULL, 2);
  sem_init(&sem, 0, 0);
#define CASE(which, run) if (strcmp(name, #which) == 0) { run; return 0; }
  CASE(missing_lock, both(missing_lock, missing_lock))
  CASE(one_side_locks, both(one_side_locks, one_side_locks))
  CASE(wrong_mutex, both(wrong_mutex, wrong_mutex))
  CASE(wrong_kind_of_lock, both(wrong_kind_of_lock, wrong_kind_of_lock))
  CASE(after_the_unlock, both(after_the_unlock, after_the_unlock))
  CASE(missing_join, missing_join())
  CASE(plain_flag, both(plain_flag_writer, plain_flag_reader))
  CASE(relaxed_publication, both(relaxed_publication_writer, relaxed_publication_reader))
  CASE(atomic_and_plain_counter, both(atomic_and_plain_counter, atomic_and_plain_counter))
  CASE(shared_buffer, both(shared_buffer, shared_buffer))
  CASE(loop_variable, loop_variable())
  CASE(same_allocation, same_allocation_main())
  CASE(reallocated, reallocated_main())
  CASE(condition_without_mutex, both(condition_without_mutex_setter, condition_without_mutex_waiter))
  CASE(signal_before_the_write, both(signal_before_the_write_setter, signal_before_the_write_waiter))
  CASE(missing_barrier, both(missing_barrier, missing_barrier))
  CASE(barrier_too_early, both(barrier_too_early, barrier_too_early))
  CASE(write_under_a_read_lock, both(write_under_a_read_lock, write_under_a_read_lock))
  CASE(use_before_once, both(use_before_once_reader, use_before_once_quiet))
  CASE(double_checked, both(double_checked, double_checked))
  CASE(bits_of_one_byte, both(bits_of_one_byte, bits_of_one_byte))
  CASE(detached, detached_main())
  CASE(freed_while_read, freed_while_read())
  CASE(copy_over, both(copy_over, copy_over))
  fprintf(stderr, "no case %s\n", name);
  return 2;
}
