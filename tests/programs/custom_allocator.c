// The program has an allocator of its own, malloc and free included, over a static arena: it runs, and all
// threads get memory from it.
// MODE: verify
// COUNT: thread_create 2
// COUNT: thread_join 2
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static _Alignas(16) char arena[8 << 20];
static atomic_size_t used;

void *malloc(size_t n) {
  size_t at = atomic_fetch_add(&used, (n + 31) & ~(size_t)15);
  if (at + n + 16 > sizeof arena) return NULL;
  *(size_t *)(arena + at) = n;
  return arena + at + 16;
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t size) {
  void *p = malloc(n * size);
  return p ? memset(p, 0, n * size) : NULL;
}
void *realloc(void *p, size_t n) {
  void *q = malloc(n);
  if (p && q) {
    size_t old = *(size_t *)((char *)p - 16);
    memcpy(q, p, old < n ? old : n);
  }
  return q;
}

static void *work(void *arg) {
  for (int i = 1; i <= 1000; i++) {
    char *p = malloc((size_t)i);
    if (p < arena || p >= arena + sizeof arena) return arg;
    p[i - 1] = 1;
    free(p);
  }
  return NULL;
}

int main(void) {
  pthread_t t[2];
  void *bad = NULL;
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, arena);
  for (int i = 0; i < 2; i++) {
    void *r;
    pthread_join(t[i], &r);
    if (r) bad = r;
  }
  return bad ? 1 : 0;
}
