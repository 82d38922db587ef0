// Checksums of a buffer: CRC-32 by table, FNV-1a, Adler-32, and a 64-bit mixing hash.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned table[256];
static unsigned char data[1 << 16];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  for (unsigned i = 0; i < 256; i++) {
    unsigned c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  for (unsigned i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * i >> 5);
  unsigned crc = 0;
  unsigned long h = 0;
  for (long r = 0; r < reps; r++) {
    unsigned c = ~crc, a = 1, b = 0;
    for (unsigned i = 0; i < sizeof data; i++) c = table[(c ^ data[i]) & 255] ^ (c >> 8);
    crc = ~c;
    unsigned long f = 0xcbf29ce484222325ul;
    for (unsigned i = 0; i < sizeof data; i++) f = (f ^ data[i]) * 0x100000001b3ul;
    for (unsigned i = 0; i < sizeof data;) {
      for (unsigned e = i + 4096; i < e; i++) a += data[i], b += a;
      a %= 65521;
      b %= 65521;
    }
    for (unsigned i = 0; i < sizeof data; i += 8) {
      unsigned long w;
      memcpy(&w, data + i, 8);
      h = (h ^ w) * 0x9e3779b97f4a7c15ul;
      h ^= h >> 29;
    }
    h += f + a + b;
  }
  printf("%08x %lx\n", crc, h);
}
