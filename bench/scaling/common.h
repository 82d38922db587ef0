// What the programs of this folder share: arguments, random numbers, threads.
#ifndef SCALING_COMMON_H
#define SCALING_COMMON_H
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 256 };

// Says how the program is called and ends it.
static inline void usage(const char *text) {
  fprintf(stderr, "usage: %s\n", text);
  exit(2);
}

// An argument from `least` on, or what it is without.
static inline long number(int argc, char **argv, int i, long least, long otherwise, const char *text) {
  if (i >= argc) return otherwise;
  char *end;
  long value = strtol(argv[i], &end, 10);
  if (end == argv[i] || *end || value < least) usage(text);
  return value;
}

// The first argument; 0 is the sequential program.
static inline int thread_count(int argc, char **argv, const char *text) {
  long threads = argc < 2 ? -1 : number(argc, argv, 1, 0, 0, text);
  if (threads < 0 || threads > MOST_THREADS) usage(text);
  return (int)threads;
}

// Whether the second argument is `first` (as without one) or `second`: 0 or 1.
static inline int variant(int argc, char **argv, const char *first, const char *second, const char *text) {
  if (argc < 3 || !strcmp(argv[2], first)) return 0;
  if (strcmp(argv[2], second)) usage(text);
  return 1;
}

// The n-th random number (splitmix64): what a thread computes does not depend on the others.
static inline uint64_t random_at(uint64_t n) {
  uint64_t x = (n + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Work that takes time in proportion to `rounds` and uses no memory.
static inline uint64_t work(uint64_t x, long rounds) {
  for (long i = 0; i < rounds; i++) x = x * 6364136223846793005u + 1442695040888963407u, x ^= x >> 29;
  return x;
}

// Bounds of thread t's share of n.
static inline long share(long n, int threads, int t) { return n * t / threads; }

struct member {
  void (*body)(int);
  int t;
};

static inline void *member_run(void *at) {
  struct member *m = (struct member *)at;
  m->body(m->t);
  return NULL;
}

// body(t) for each thread; the caller is thread 0.
static inline void team(int threads, void (*body)(int)) {
  static pthread_t id[MOST_THREADS];
  static struct member members[MOST_THREADS];
  for (int t = 1; t < threads; t++) {
    members[t].body = body, members[t].t = t;
    if (pthread_create(&id[t], NULL, member_run, &members[t])) {
      fprintf(stderr, "cannot create thread %d of %d\n", t, threads);
      exit(1);
    }
  }
  body(0);
  for (int t = 1; t < threads; t++) pthread_join(id[t], NULL);
}
#endif
