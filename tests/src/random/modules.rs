//! Calls between modules: with arguments that vary, through pointers, into modules that come and
//! go.

use super::Generator;

/// The last unit, which may be a library, defines these; `vary` calls back through pointers that it
/// is given.
pub(crate) const VARIADIC: &str = r"u64 vary(const char *how, ...) {
  __builtin_va_list l; u64 s = 0;
  __builtin_va_start(l, how);
  for (; *how; how++) switch (*how) {
    case 'u': s = s * 5 + __builtin_va_arg(l, u64); break;
    case 'i': s += (u64)__builtin_va_arg(l, int); break;
    case 'd': s += (u64)__builtin_va_arg(l, double); break;
    case 'p': { struct P p = __builtin_va_arg(l, struct P); s ^= p.a + p.c[3]; break; }
    case 's': s += (u64)__builtin_va_arg(l, struct S *)->a; break;
    case 'f': { Fn f = __builtin_va_arg(l, Fn); s += f(s, &pool[s & 63], 4); break; }
    default: break;
  }
  __builtin_va_end(l);
  return s;
}
Vary variadic[2] = {vary, vary};
";

/// Loads a module, uses it and closes it, so that the next module lands at the same addresses.
pub(crate) const LOAD: &str = r#"#include <dlfcn.h>
#define PLACE(name) "$ORIGIN/" #name ".so"
static u64 loaded(const char *name, u64 x, int stay) {
  void *h = dlopen(name, RTLD_NOW);
  if (!h) return 7;
  u64 (*run)(u64) = (u64 (*)(u64))dlsym(h, "run");
  u64 (*at)(int, ...) = (u64 (*)(int, ...))dlsym(h, "at");
  u64 r = run ? run(x) : 8;
  for (int i = 0; i < 3; i++) r += at ? at(2, r, (double)i) : 9;
  if (!stay) dlclose(h);
  return r;
}
"#;

/// The two modules that are made of this text have the same layout, but other numbers in their code
/// and tables.
const PLUGIN: &str = r#"typedef unsigned char u8; typedef unsigned u32; typedef unsigned long u64;
#ifdef __cplusplus
extern "C" u64 run(u64); extern "C" u64 at(int, ...);
#endif
static __thread u64 own[32]; static u64 table[TABLE]; static volatile u32 begun;
__attribute__((constructor)) static void begin(void) { for (int i = 0; i < TABLE; i++) table[i] = (u64)i * (PRIME + K); begun++; }
__attribute__((destructor)) static void end(void) { for (int i = 0; i < TABLE; i++) table[i] = 0; }
u64 run(u64 x) {
  for (int i = 0; i < 32; i++) own[i] = x + (u64)i;
  for (u64 i = 0; i < STEPS; i++) { own[i & 31] += table[(i * 7 + K) % TABLE]; if (own[i & 31] & 4) x ^= own[(i * 3) & 31]; else x += K; }
  return x;
}
u64 at(int n, ...) {
  __builtin_va_list l; u64 s = own[n & 31];
  __builtin_va_start(l, n);
  s += __builtin_va_arg(l, u64) * (PRIME - K);
  s ^= (u64)__builtin_va_arg(l, double) + table[s % TABLE];
  __builtin_va_end(l);
  return s;
}
"#;

impl Generator<'_> {
    /// Arguments of `vary`, and before them what they are.
    pub(crate) fn varied(&mut self) -> String {
        let (mut how, mut arguments) = (String::new(), String::new());
        for _ in 0..self.rng.range(1, 9) {
            let argument = self.rule("argument");
            let (letter, value) = argument.split_once(' ').unwrap_or_default();
            how += letter;
            arguments += &format!(", {value}");
        }
        format!("\"{how}\"{arguments}")
    }

    pub(crate) fn plugin(&mut self) -> Option<String> {
        self.shape.plugins.then(|| {
            let mut text = String::new();
            for (name, low, high) in [("TABLE", 40, 300), ("PRIME", 1000, 9000), ("STEPS", 20, 90)]
            {
                text += &format!("#define {name} {}\n", self.rng.range(low, high));
            }
            text + PLUGIN
        })
    }
}
