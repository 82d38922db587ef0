// An instrumented library loaded, used, closed and loaded again at another address: its old place is taken meanwhile.
// Both uses are in the graph: each reads the same table at its new place.
// MODE: verify
// LEVELS: O0 O2
// PLUGIN: dlopen_plugin.c
// CHECK: bytes
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>

static long use(unsigned long *where) {
  void *h = dlopen("./dlopen_plugin.so", RTLD_NOW);
  if (!h) return -1;
  int (*sum)(int) = (int (*)(int))dlsym(h, "plugin_sum");
  struct link_map *map;
  dlinfo(h, RTLD_DI_LINKMAP, &map);
  *where = map->l_addr;
  long s = sum(8);
  int *(*place)(void) = (int *(*)(void))dlsym(h, "plugin_table");
  printf("R %p 32\n", (void *)place());
  dlclose(h);
  return s;
}

int main(void) {
  unsigned long first, second;
  long a = use(&first);
  void *taken = mmap((void *)first, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  long b = use(&second);
  fprintf(stderr, "%ld %ld %d %d\n", a, b, taken == (void *)first, first != second);
  return 0;
}
