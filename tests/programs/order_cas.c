// Locks by compare-exchange, by atomic_flag and by tickets, taken by three threads each.
// MODE: verify
// CHECK: log-order
#define SECTIONS 9000
#include "order.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_long word;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic unsigned next, serving;

static void *words(void *arg) {
  for (int i = 0; i < SECTIONS / 9; i++) {
    long free_word = 0;
    while (!atomic_compare_exchange_weak(&word, &free_word, 1)) {
      free_word = 0;
      sched_yield();
    }
    section();
    atomic_store(&word, 0);
  }
  return arg;
}

static void *flags(void *arg) {
  for (int i = 0; i < SECTIONS / 9; i++) {
    while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire)) sched_yield();
    section();
    atomic_flag_clear_explicit(&flag, memory_order_release);
  }
  return arg;
}

static void *tickets(void *arg) {
  for (int i = 0; i < SECTIONS / 9; i++) {
    unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != mine) sched_yield();
    section();
    atomic_fetch_add_explicit(&serving, 1, memory_order_release);
  }
  return arg;
}

static void three(void *(*body)(void *)) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, body, NULL);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
}

int main(void) {
  three(words);
  three(flags);
  three(tickets);
  return report(SECTIONS);
}
