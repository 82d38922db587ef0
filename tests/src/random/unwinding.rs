//! Exceptions and jumps that pass through several functions which record. Destructors with calls of
//! their own run on the way, rethrow, and throw exceptions inside.

/// For C++ units, after the declarations of the globals.
pub(crate) const CXX: &str = r"struct Oops { u64 a; u32 b; };
struct Guard { u64 x; explicit Guard(u64 v) : x(v) { acc += v; } ~Guard() { acc ^= x; grid[x & 15][1] += 1; } };
struct Thing { u64 k; virtual u64 turn(u64 x) { return x + k; } virtual ~Thing() {} };
struct Other : Thing { u32 seen[8]; u64 turn(u64 x) override { return seen[x & 7] += (u32)x + (u32)k; } };
extern TL Thing *things[4];
struct Heavy { u64 x; explicit Heavy(u64 v) : x(v) {} NOINL ~Heavy() { acc ^= x; grid[x & 15][2] += 1; } };
struct Stubborn { u64 x; explicit Stubborn(u64 v) : x(v) {}
  NOINL ~Stubborn() { try { Heavy h(x + 1); if (x & 1) throw (int)(x & 7); grid[x & 15][4] += 3; } catch (int e) { acc += e; } } };
static NOINL u64 thrown(u64 x, int n) {
  Heavy first(x); Stubborn second(x + n);
  if (n <= 0) { if (x & 1) throw (int)(x & 15); if (x & 2) throw Oops{x, 2}; return x; }
  try { Heavy third(n); return thrown(x / 2 + 1, n - 1) + 1; }
  catch (int e) { Stubborn fourth(e); if (e & 1) throw; if (e & 2) throw e + 1; return e; }
}
";

/// For C units.
pub(crate) const C: &str = r"#include <setjmp.h>
extern TL jmp_buf places[16]; extern TL int jumps;
static NOINL u64 jumped(u64 x, int n) {
  u32 local[4] = {(u32)x, 2, 3, (u32)n};
  if (n <= 0) { if (jumps > 0 && (x & 1)) longjmp(places[jumps - 1], 1 + (int)(x & 3)); return x + local[x & 3]; }
  x = jumped(x / 3 + 1, n - 1); grid[x & 15][5] += local[x & 3]; return x + (u64)n;
}
";
