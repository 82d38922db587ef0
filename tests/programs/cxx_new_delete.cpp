// operator new and delete in all their forms, also the nothrow, aligned and sized ones, and a bad_alloc.
// MODE: verify
// CHECK: allocations
// LEVELS: O0 O2
// FLAGS: -std=c++17
#include <cstdio>
#include <new>

static struct {
  const char *what;
  void *addr;
  unsigned long size;
} seen[64];
static int n;
template <class T> static T *volatile sink;
static void note(const char *what, void *addr, unsigned long size) { seen[n++] = {what, addr, size}; }

struct alignas(64) Wide {
  char c[128];
};

int main() {
  int *i = new int(3);
  note("alloc new", i, sizeof(int));
  sink<int> = i;
  long *l = new long[10];
  note("alloc new", l, 80);
  sink<long> = l;
  Wide *w = new Wide;
  note("alloc new", w, 128);
  sink<Wide> = w;
  char *c = new (std::nothrow) char[33];
  note("alloc new", c, 33);
  sink<char> = c;
  note("free", (void *)sink<int>, 0);
  delete sink<int>;
  note("free", (void *)sink<long>, 0);
  delete[] sink<long>;
  note("free", (void *)sink<Wide>, 0);
  delete sink<Wide>;
  note("free", (void *)sink<char>, 0);
  delete[] sink<char>;
  int caught = 0;
  try {
    volatile unsigned long huge = ~0ul / 4;
    sink<char> = new char[huge];
  } catch (const std::bad_alloc &) {
    caught++;
  }
  std::fprintf(stderr, "%d\n", caught);
  for (int k = 0; k < n; k++) std::printf("%s %p %lu\n", seen[k].what, seen[k].addr, seen[k].size);
}
