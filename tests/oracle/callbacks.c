// The independent recorder of the oracle tests: what LLVM's own AddressSanitizer pass calls before every
// load, store and atomic, and what the linker's --wrap makes of functions of the C library. Compiled by
// plain clang; knows nothing of contech. Writes every thread's accesses to $ORACLE_FILE at the very end:
// a line "thread", then one line "R|W address size" per access in program order.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct Access {
  uint64_t addr;
  uint64_t size_and_write;
};
#define LIMIT (1u << 22)
struct Log {
  struct Log *next;
  uint64_t count;
  struct Access access[LIMIT];
};
static struct Log *logs; // all threads', newest first
static __thread struct Log *mine;

static struct Log *begin(void) {
  // Pages are touched only as they fill. Not mmap itself: the runtime intercepts that, and these callbacks
  // may stand where a block's record is half written.
  struct Log *log;
  register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  register long fd __asm__("r8") = -1;
  register long offset __asm__("r9") = 0;
  __asm__ volatile("syscall"
                   : "=a"(log)
                   : "a"(SYS_mmap), "D"(0), "S"(sizeof *log), "d"(PROT_READ | PROT_WRITE), "r"(flags), "r"(fd), "r"(offset)
                   : "rcx", "r11", "memory");
  if ((unsigned long)log > -4096ul) abort();
  log->next = __atomic_load_n(&logs, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&logs, &log->next, log, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return mine = log;
}

static void note(uint64_t addr, uint64_t size, int write) {
  struct Log *log = mine ? mine : begin();
  if (log->count == LIMIT) abort();
  log->access[log->count].addr = addr;
  log->access[log->count++].size_and_write = size << 1 | (uint64_t)write;
}

void __asan_handle_no_return(void) {}

// The callbacks have the names of pure library functions: calls of those do not end a block, so that blocks
// stay whole (see the test).
void __isnan(uint64_t addr, uint64_t size) { note(addr, size, 0); }
void __isinf(uint64_t addr, uint64_t size) { note(addr, size, 1); }

void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
void *__wrap_memcpy(void *to, const void *from, size_t n) {
  if (n) note((uint64_t)from, n, 0), note((uint64_t)to, n, 1);
  return __real_memcpy(to, from, n);
}
void *__wrap_memmove(void *to, const void *from, size_t n) {
  if (n) note((uint64_t)from, n, 0), note((uint64_t)to, n, 1);
  return __real_memmove(to, from, n);
}
void *__wrap_memset(void *to, int c, size_t n) {
  if (n) note((uint64_t)to, n, 1);
  return __real_memset(to, c, n);
}

size_t __real_strlen(const char *);
size_t __wrap_strlen(const char *text) {
  size_t length = __real_strlen(text);
  note((uint64_t)text, length + 1, 0);
  return length;
}

void __real_qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void __wrap_qsort(void *all, size_t n, size_t size, int (*order)(const void *, const void *)) {
  if (n * size) note((uint64_t)all, n * size, 0);
  __real_qsort(all, n, size, order);
  if (n * size) note((uint64_t)all, n * size, 1);
}

// Texts that are printed. Those of the program's read-only data are not recorded: nothing can change them.
int __wrap_printf(const char *format, ...) {
  extern char __executable_start, __data_start;
  va_list all, own;
  va_start(all, format);
  va_copy(own, all);
  for (const char *at = strchr(format, '%'); at; at = strchr(at + 1, '%')) {
    at += 1 + strspn(at + 1, "-+ #0123456789.");
    if (*at == 's') {
      const char *text = va_arg(own, const char *);
      if (text < &__executable_start || text >= &__data_start) note((uint64_t)text, __real_strlen(text) + 1, 0);
    } else if (strchr("lzjp", *at)) {
      (void)va_arg(own, long);
    } else if (strchr("fge", *at)) {
      (void)va_arg(own, double);
    } else if (*at != '%') {
      (void)va_arg(own, int);
    }
  }
  va_end(own);
  int printed = vprintf(format, all);
  va_end(all);
  return printed;
}

__attribute__((destructor(101))) static void finish(void) {
  const char *path = getenv("ORACLE_FILE");
  FILE *f = path ? fopen(path, "w") : NULL;
  if (!f) abort();
  for (struct Log *log = logs; log; log = log->next) {
    fputs("thread\n", f);
    for (uint64_t i = 0; i < log->count; i++)
      fprintf(f, "%c %#lx %lu\n", log->access[i].size_and_write & 1 ? 'W' : 'R', log->access[i].addr,
              log->access[i].size_and_write >> 1);
  }
  fclose(f);
}
