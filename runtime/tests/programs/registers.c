// Every register is the same after a flush: vector and general registers are filled around the call.
#include <stdio.h>
#include <string.h>

#include "recorded.h"

int main(void) {
  block(0);
  static unsigned char before[16][64], after[16][64];
  static unsigned long general[2][12];
  for (int i = 0; i < 16; i++) memset(before[i], i * 7 + 1, 64);
  for (int round = 0; round < 3; round++) {
    char *at = __contech_tls.cursor;
    __asm__ volatile(
        "movups 0(%[b]), %%xmm0\n movups 64(%[b]), %%xmm1\n movups 128(%[b]), %%xmm2\n"
        "movups 192(%[b]), %%xmm3\n movups 448(%[b]), %%xmm7\n movups 960(%[b]), %%xmm15\n"
        "fld1\n"
        "mov $1, %%rcx\n mov $2, %%rdx\n mov $3, %%rsi\n mov $5, %%r8\n mov $6, %%r9\n mov $7, %%r10\n"
        "mov %[at], %%rdi\n mov %%rdi, 0(%[g])\n"
        "call __contech_flush\n"
        "mov %%rdi, 8(%[g])\n mov %%rcx, 16(%[g])\n mov %%rdx, 24(%[g])\n mov %%rsi, 32(%[g])\n"
        "mov %%r8, 40(%[g])\n mov %%r9, 48(%[g])\n mov %%r10, 56(%[g])\n"
        "fstpl 64(%[g])\n"
        "movups %%xmm0, 0(%[a])\n movups %%xmm1, 64(%[a])\n movups %%xmm2, 128(%[a])\n"
        "movups %%xmm3, 192(%[a])\n movups %%xmm7, 448(%[a])\n movups %%xmm15, 960(%[a])\n"
        :
        : [b] "r"(before), [a] "r"(after), [g] "r"(general), [at] "r"(at)
        : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "xmm0", "xmm1", "xmm2",
          "xmm3", "xmm7", "xmm15");
    static const int used[] = {0, 1, 2, 3, 7, 15};
    for (int i = 0; i < 6; i++)
      if (memcmp(before[used[i]], after[used[i]], 16)) return 1;
    unsigned long *g = general[0];
    double one;
    memcpy(&one, &g[8], 8);
    if (g[0] != g[1] || g[2] != 1 || g[3] != 2 || g[4] != 3 || g[5] != 5 || g[6] != 6 || g[7] != 7 || one != 1.0)
      return 2;
  }
  puts("same");
  return 0;
}
