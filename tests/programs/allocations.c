// Every allocation family: the program logs what it got; the graph holds exactly that, in order.
// MODE: verify
// CHECK: allocations
// LEVELS: O0 O2
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct {
  const char *what;
  void *addr;
  unsigned long size;
} seen[64];
static int n;
static void *note(const char *what, void *addr, unsigned long size) {
  seen[n].what = what;
  seen[n].addr = addr;
  seen[n++].size = size;
  return addr;
}

// A reallocation frees the old place if it moved.
static char *moved(char *from, char *to, unsigned long size) {
  if (from != to) note("free", from, 0);
  return note("alloc realloc", to, size);
}

int main(void) {
  char *volatile a = note("alloc malloc", malloc(100), 100);
  char *volatile z = note("alloc malloc", malloc(0), 0);
  char *volatile c = note("alloc calloc", calloc(7, 12), 84);
  c[83] = a[0] = 1;
  a = moved(a, realloc(a, 100000), 100000);
  a = moved(a, reallocarray(a, 11, 13), 143);
  void *volatile nothing = NULL;
  char *volatile r = realloc(nothing, 33);
  note("alloc realloc", r, 33);
  void *p;
  if (posix_memalign(&p, 256, 500) == 0) note("alloc aligned", p, 500);
  int bad = posix_memalign(&p, 3, 500); // fails: not recorded
  void *q = note("alloc aligned", aligned_alloc(64, 640), 640);
  void *v = note("alloc aligned", memalign(32, 65), 65);
  char *volatile s = note("alloc malloc", malloc(~0ul / 4), 0); // fails: the next line takes it back
  if (!s) n--;
  free(NULL); // nothing
  char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  note("map", m, 8192);
  m[5000] = 3;
  void *failed = mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // fails
  note("unmap", m, 8192);
  munmap(m, 8192);
  void *all[] = {(void *)z, (void *)c, a, r, q, v};
  for (int i = 0; i < 6; i++) {
    note("free", all[i], 0);
    free(all[i]);
  }
  fprintf(stderr, "%d %d %d\n", bad != 0, failed == MAP_FAILED, s == NULL);
  for (int i = 0; i < n; i++) printf("%s %p %lu\n", seen[i].what, seen[i].addr, seen[i].size);
  return 0;
}
