// ub-tiny, ub-rnd, ub-seq (speedup-stacks, section 6.3, Listing 1): compute on data of one's own, a short critical
// section, again and again; a barrier; again. `free` leaves out locks and barriers: nothing needs them, and the time
// without them is what an estimate of it is compared with.
#include "common.h"

static const char *const USAGE = "ub THREADS [tiny|rnd|seq [sync|free [N [M [ITERATIONS [KIB]]]]]]";

// The working set has as many parts as divide among 1, 2, 3, 4, 6, 8, 12 and 24 threads.
enum { PARTS = 24 };
static int threads, kind, locked;
static long n, m, iterations, words; // words: of a part, a power of two
static uint64_t *data;
static struct {
  _Alignas(64) uint64_t at, sum;
} parts[PARTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static uint64_t entered;

static void compute(int p) {
  const uint64_t *mine = data + p * words;
  uint64_t at = parts[p].at, sum = parts[p].sum;
  switch (kind) {
  case 0: // tiny: fits into the first cache
  case 2: // seq: at a high rate through memory, eight words (a line) at a time
    for (long i = 0; i < iterations; i++) {
      const uint64_t *line = mine + (at & (words - 8));
      sum += (line[0] + line[1]) ^ (line[2] + line[3]) ^ (line[4] + line[5]) ^ (line[6] + line[7]);
      at += 8;
    }
    break;
  default: // rnd: each access waits for the one before
    for (long i = 0; i < iterations; i++) {
      at = at * 6364136223846793005u + 1442695040888963407u;
      sum += mine[(at >> 33) & (words - 1)];
      at += sum & 1;
    }
  }
  parts[p].at = at, parts[p].sum = sum;
}

static void body(int t) {
  int from = (int)share(PARTS, threads, t), to = (int)share(PARTS, threads, t + 1);
  for (long i = 0; i < n; i++) {
    for (int p = from; p < to; p++)
      for (long j = 0; j < m; j++) {
        compute(p);
        if (locked) pthread_mutex_lock(&mutex), entered++, pthread_mutex_unlock(&mutex);
      }
    if (locked) pthread_barrier_wait(&barrier);
  }
}

static void fill(int t) {
  for (long i = share(PARTS, threads, t) * words; i < share(PARTS, threads, t + 1) * words; i++) data[i] = random_at(i);
}

int main(int argc, char **argv) {
  static const char *const KINDS[] = {"tiny", "rnd", "seq"};
  static const long DEFAULTS[3][4] = {{1000, 40, 400, 24}, {50, 400, 6, 98304}, {500, 60, 60, 98304}};
  threads = thread_count(argc, argv, USAGE);
  kind = argc > 2 ? -1 : 0;
  for (int k = 0; k < 3 && kind < 0; k++)
    if (!strcmp(argv[2], KINDS[k])) kind = k;
  if (kind < 0) usage(USAGE);
  locked = argc < 4 || !strcmp(argv[3], "sync");
  if (!locked && strcmp(argv[3], "free")) usage(USAGE);
  n = number(argc, argv, 4, 1, DEFAULTS[kind][0], USAGE);
  m = number(argc, argv, 5, 1, DEFAULTS[kind][1], USAGE);
  iterations = number(argc, argv, 6, 1, DEFAULTS[kind][2], USAGE);
  long kib = number(argc, argv, 7, 1, DEFAULTS[kind][3], USAGE);
  for (words = 8; words * 2 * (long)sizeof *data * PARTS <= kib * 1024; words *= 2);
  if (!(data = malloc(PARTS * words * sizeof *data))) return fprintf(stderr, "no memory for %ld KiB\n", kib), 1;
  for (int p = 0; p < PARTS; p++) parts[p].at = p;
  if (!threads) threads = 1, locked = 0;
  team(threads, fill);
  pthread_barrier_init(&barrier, NULL, threads);
  team(threads, body);
  pthread_barrier_destroy(&barrier);
  uint64_t sum = 0;
  for (int p = 0; p < PARTS; p++) sum += parts[p].sum * (p + 1);
  if (locked && entered != (uint64_t)(n * m * PARTS)) return fprintf(stderr, "a section was not entered\n"), 1;
  printf("%016lx\n", sum);
}
