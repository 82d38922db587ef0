//! Exceptions and jumps that pass through several functions which record. Destructors with calls of
//! their own run on the way, rethrow, and throw exceptions inside.

use super::Generator;

/// For C++ units, after the declarations of the globals.
pub(crate) const CXX: &str = r"
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
pub(crate) const C: &str = r"
static NOINL u64 jumped(u64 x, int n) {
  u32 local[4] = {(u32)x, 2, 3, (u32)n};
  if (n <= 0) { if (jumps > 0 && (x & 1)) longjmp(places[jumps - 1], 1 + (int)(x & 3)); return x + local[x & 3]; }
  x = jumped(x / 3 + 1, n - 1); grid[x & 15][5] += local[x & 3]; return x + (u64)n;
}
";

impl Generator<'_> {
    /// An exception that may be caught here, after it passed several functions.
    pub(crate) fn unwinding(&mut self) -> String {
        let (x, levels) = (self.expr(1), self.rng.range(0, 5));
        match self.rng.below(3) {
            0 => format!(
                "try {{ acc += thrown({x}, {levels}); }} catch (int e) {{ acc ^= e; }} catch (Oops &e) {{ acc -= e.a; }}"
            ),
            1 => {
                let (a, b, call) = (self.fresh("heavy"), self.fresh("stubborn"), self.call());
                let leave = if self.scope.may_leave { "if (d > 2) throw; " } else { "" };
                format!(
                    "try {{ Heavy {a}({x}); {call} Stubborn {b}(acc); acc += thrown(acc, {levels}); }} catch (int e) {{ Heavy {a}(e); {leave}acc += e; }} catch (...) {{ Stubborn {b}(acc); {leave}acc += 1; }}"
                )
            }
            _ => {
                let (a, k) = (self.fresh("heavy"), self.fresh("k"));
                format!(
                    "for (int {k} = 0; {k} < 3; {k}++) {{ Heavy {a}({k}); try {{ try {{ acc += thrown({x}, {levels}); }} catch (int) {{ Stubborn s({k}); throw; }} }} catch (int e) {{ if (e > 9) break; continue; }} catch (...) {{ acc += 5; }} }}"
                )
            }
        }
    }

    /// A jump over several functions that may land here.
    pub(crate) fn jump_over(&mut self) -> String {
        let (q, x, levels) = (self.fresh("q"), self.expr(1), self.rng.range(0, 6));
        format!(
            "if (jumps < 8) {{ int {q} = jumps++; if (!setjmp(places[{q}])) {{ acc += jumped({x}, {levels}); }} else {{ acc += 11; }} jumps = {q}; }}"
        )
    }
}
