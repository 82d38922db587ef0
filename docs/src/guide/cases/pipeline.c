// Two stages: one makes numbers, the other tests them, through a queue of one place.
// FIXED: two threads test, each with a queue of its own, which has room.
#include <pthread.h>
#include <stdio.h>

enum { NUMBERS = 400, FIRST = 30001 };
#ifdef FIXED
enum { TESTERS = 2, PLACES = 64 };
#else
enum { TESTERS = 1, PLACES = 1 };
#endif
struct queue {
  long numbers[PLACES];
  int from, filled;
  pthread_mutex_t lock;
  pthread_cond_t full, empty;
  long primes;
};
static struct queue queues[TESTERS];

static void put(struct queue *to, long number) {
  pthread_mutex_lock(&to->lock);
  while (to->filled == PLACES) pthread_cond_wait(&to->full, &to->lock);
  to->numbers[(to->from + to->filled++) % PLACES] = number;
  pthread_cond_signal(&to->empty);
  pthread_mutex_unlock(&to->lock);
}

static long take(struct queue *from) {
  pthread_mutex_lock(&from->lock);
  while (from->filled == 0) pthread_cond_wait(&from->empty, &from->lock);
  long number = from->numbers[from->from];
  from->from = (from->from + 1) % PLACES;
  from->filled--;
  pthread_cond_signal(&from->full);
  pthread_mutex_unlock(&from->lock);
  return number;
}

static int is_prime(long number) {
  int divisors = 0;
  for (long d = 1; d <= number; d++) divisors += number % d == 0;
  return divisors == 2;
}

static void *test(void *argument) {
  struct queue *own = argument;
  for (long number; (number = take(own)) != 0;) own->primes += is_prime(number);
  return NULL;
}

static void *make(void *none) {
  for (long i = 0; i < NUMBERS; i++) put(&queues[i % TESTERS], FIRST + 2 * i);
  for (int t = 0; t < TESTERS; t++) put(&queues[t], 0);
  return none;
}

int main(void) {
  pthread_t maker, tester[TESTERS];
  for (int t = 0; t < TESTERS; t++) {
    pthread_mutex_init(&queues[t].lock, NULL);
    pthread_cond_init(&queues[t].full, NULL);
    pthread_cond_init(&queues[t].empty, NULL);
  }
  pthread_create(&maker, NULL, make, NULL);
  for (int t = 0; t < TESTERS; t++) pthread_create(&tester[t], NULL, test, &queues[t]);
  pthread_join(maker, NULL);
  long primes = 0;
  for (int t = 0; t < TESTERS; t++) pthread_join(tester[t], NULL), primes += queues[t].primes;
  printf("%ld primes\n", primes);
}
