// Destructors that are calls of their own run while an exception passes: in one frame and in many, one and several
// in a frame, around a rethrow, with an exception of their own inside. The program prints the stores they did.
// MODE: verify
// CHECK: accesses
// LEVELS: O0 O1 O2 O3
#include <cstdio>

static int hit[16], order[256], ran;

struct Cleanup {
  int k;
  __attribute__((noinline)) ~Cleanup() {
    hit[k]++;
    order[ran++] = k;
  }
};

struct Stubborn {
  int k;
  __attribute__((noinline)) ~Stubborn() {
    try {
      Cleanup inner{k + 1};
      throw 1L;
    } catch (long) {
      hit[k]++;
      order[ran++] = k;
    }
  }
};

__attribute__((noinline)) static int one(int n) {
  Cleanup c{n & 1};
  if (n % 2 == 0) throw n;
  return n;
}

__attribute__((noinline)) static int several(int n) {
  Cleanup a{2};
  Stubborn b{3};
  int s = one(n);
  Cleanup c{5};
  return s + one(n + 1);
}

__attribute__((noinline)) static int deep(int n) {
  Cleanup c{6 + n};
  if (n == 0) return several(ran & 1);
  try {
    return deep(n - 1) + 1;
  } catch (int e) {
    Cleanup d{11};
    if (n == 2) throw;
    throw e + 1;
  }
}

int main() {
  int s = 0;
  for (int i = 0; i < 6; i++) {
    try {
      s += one(i) + several(i) + deep(i % 5);
    } catch (int e) {
      s += 100 * e;
    }
    try {
      s += deep(4);
    } catch (...) {
      Cleanup last{12};
    }
  }
  for (int i = 0; i < ran; i++) std::printf("0:* W %p 4\n", static_cast<void *>(&hit[order[i]]));
  return s == 0;
}
