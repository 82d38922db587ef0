// The program's own allocator takes a lock and fills buffers while it holds that: the recorder must not call it from
// there.
// MODE: verify
// ENV: CONTECH_BUFFER=32K
// COUNT: thread_create 2
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(16) char arena[8 << 20];
static size_t used;
static volatile unsigned cells[1 << 10], sum;

void *malloc(size_t n) {
  unsigned random = (unsigned)n;
  pthread_mutex_lock(&m);
  for (int i = 0; i < 2000; i++) {
    random = random * 1664525 + 1013904223;
    if (random >> 29 & 1) cells[random >> 20 & 1023]++;
    sum += cells[random >> 8 & 1023];
  }
  size_t at = used;
  used += (n + 31) & ~(size_t)15;
  void *p = used <= sizeof arena ? arena + at : NULL;
  pthread_mutex_unlock(&m);
  return p;
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t size) {
  void *p = malloc(n * size);
  return p ? memset(p, 0, n * size) : NULL;
}
void *realloc(void *p, size_t n) { return p ? NULL : malloc(n); }

static void *work(void *arg) {
  for (int i = 0; i < 20; i++)
    if (!malloc((size_t)i)) return arg;
  return NULL;
}

int main(void) {
  pthread_t t[2];
  void *r, *bad = NULL;
  work(&bad);
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &bad);
  for (int i = 0; i < 2; i++) {
    pthread_join(t[i], &r);
    if (r) bad = r;
  }
  return bad != NULL;
}
