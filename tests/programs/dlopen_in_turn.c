// Two instrumented libraries of one layout, loaded one after the other: the loader puts the second where the first
// was. Both are in the graph, and so is what the program did before.
// MODE: verify
// LEVELS: O0 O2
// PLUGIN: dlopen_plugin.c
// PLUGIN: dlopen_plugin_second.c
// CHECK: bytes
#include <dlfcn.h>
#include <stdio.h>

static int values[64];

static long use(const char *name) {
  void *h = dlopen(name, RTLD_NOW);
  if (!h) return -1;
  int (*sum)(int) = (int (*)(int))dlsym(h, "plugin_sum");
  int *(*place)(void) = (int *(*)(void))dlsym(h, "plugin_table");
  long s = sum(8);
  printf("R %p 32\n", (void *)place());
  dlclose(h);
  return s;
}

int main(void) {
  for (int i = 0; i < 64; i++) values[i] = i;
  printf("W %p 256\n", (void *)values);
  long first = use("./dlopen_plugin.so"), second = use("./dlopen_plugin_second.so");
  fprintf(stderr, "%ld %ld\n", first, second);
  return 0;
}
