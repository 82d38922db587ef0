// What the compiler pass emits, by hand: blocks 0..7 of one module, without operands.
#ifndef RECORDED_H
#define RECORDED_H
#include <stddef.h>
#include <stdint.h>

#include "table.h" // static const unsigned char table[], from the test

struct contech_tls {
  char *cursor, *limit;
  void *rest[6];
};
extern __thread struct contech_tls __contech_tls __attribute__((tls_model("initial-exec")));
extern char *__contech_flush(char *) __attribute__((preserve_all));
extern void __contech_register(const void *, const void *);

static char ids[8];
struct descriptor {
  uint32_t magic, abi;
  void *ids;
  uint64_t id_count;
  const void *table;
  uint64_t table_len;
  void *globals;
  uint64_t global_count, flags;
};
#ifndef IDS
#define IDS ids
#endif
static struct descriptor module_ = {0x444d5443, ABI, IDS, 8, table, sizeof table, 0, 0, 0};

__attribute__((constructor(101))) static void register_module(void) {
  __contech_register(&module_, &module_ + 1);
}

static inline void block(unsigned k) {
  char *at = __contech_tls.cursor;
  if (at >= __contech_tls.limit) at = __contech_flush(at);
  *(uint32_t *)at = (uint32_t)(uintptr_t)(ids + k);
  __contech_tls.cursor = at + 4;
}
#endif
