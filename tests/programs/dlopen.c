// An instrumented library loaded, used by two threads and unloaded, three times over.
// MODE: verify
// LEVELS: O0 O2
// PLUGIN: dlopen_plugin.c
// COUNT: thread_create 6
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *work(void *arg) {
  int (*f)(int) = arg;
  return (void *)(long)f(5);
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    void *h = dlopen("./dlopen_plugin.so", RTLD_NOW);
    if (!h) {
      puts(dlerror());
      return 1;
    }
    void *f = dlsym(h, "plugin_sum"), *r[2];
    pthread_t t[2];
    for (int k = 0; k < 2; k++) pthread_create(&t[k], NULL, work, f);
    for (int k = 0; k < 2; k++) pthread_join(t[k], &r[k]);
    printf("%ld %ld\n", (long)r[0], (long)r[1]);
    dlclose(h);
  }
  return 0;
}
