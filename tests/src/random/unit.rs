//! Whole programs: prelude, functions, units, `main`.

use super::scope::{Array, INTEGERS, Scope};
use super::{Function, Generator, Leaf, coroutines, modules, unwinding};

/// Declarations at the beginning of each unit. `TL` is `__thread` in programs with threads.
const PRELUDE: &str = r#"#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
typedef unsigned char u8; typedef signed char s8; typedef unsigned short u16; typedef short s16;
typedef unsigned u32; typedef int s32; typedef unsigned long u64; typedef long s64;
typedef u32 u32x4 __attribute__((vector_size(16), aligned(4))); typedef u32 u32x8 __attribute__((vector_size(32), aligned(4)));
typedef u16 u16x16 __attribute__((vector_size(32), aligned(2))); typedef u64 u64x4 __attribute__((vector_size(32), aligned(8)));
#define NOINL __attribute__((noinline))
#define TURN_u32x4 1, 4, 7, 2
#define TURN_u64x4 TURN_u32x4
#define TURN_u32x8 1, 4, 7, 10, 13, 0, 3, 6
#define TURN_u16x16 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 2, 5, 8, 11, 14
#ifdef __cplusplus
extern "C" {
#endif
int printf(const char *, ...); void *malloc(u64); void *calloc(u64, u64); void *realloc(void *, u64); void free(void *);
void *memcpy(void *, const void *, u64); void *memmove(void *, const void *, u64); void *memset(void *, int, u64);
u64 strlen(const char *); void qsort(void *, u64, u64, int (*)(const void *, const void *));
void exit(int); void _exit(int); void quick_exit(int); int atexit(void (*)(void)); int fflush(void *); int pause(void); int usleep(u32); void said(void);
#ifdef __cplusplus
}
#endif
struct S { ty0 a; ty1 b; u32 c[4]; struct S *next; ty2 d; };
struct B { u32 p : 3, q : 13; s32 r : 7; u64 t : 40; u8 u : 5; };
union M { u64 w; u16 h[4]; u8 b[8]; };
struct P { u64 a; u32 b; u8 c[12]; };
typedef u64 (*Fn)(u64, struct S *, int);
extern TL u64 acc; extern TL struct S pool[64]; extern TL struct S *head; extern TL struct B bits[16];
extern TL union M mix[8]; extern TL u32 grid[16][16]; extern TL int fuel; extern u64 shared_sum;
extern volatile u32 vol; extern TL u32 said_here;
static inline void pool_copy(struct S *a, const struct S *b) { struct S *n = a->next; *a = *b; a->next = n; }
static int by_value(const void *a, const void *b) { u32 x = *(const u32 *)a, y = *(const u32 *)b; return x < y ? -1 : x > y; }
u64 sum_of(int n, ...); struct P made(u64 x); struct P turned(struct P q, u32 i);
u64 many(u64, u32, u64, u8, u64, int, struct S *, u64, s16, double);
typedef u64 (*Vary)(const char *, ...); u64 vary(const char *how, ...); extern Vary variadic[2];
"#;

/// Definitions that the program has once.
const COMMON: &str = r#"TL u64 acc; TL struct S pool[64]; TL struct S *head; TL struct B bits[16]; TL union M mix[8];
TL u32 grid[16][16]; TL int fuel; TL u32 said_here; u64 shared_sum; volatile u32 vol = 3;
u64 sum_of(int n, ...) {
  __builtin_va_list l; u64 s = 0;
  __builtin_va_start(l, n);
  while (n-- > 0) s = s * 3 + __builtin_va_arg(l, u64);
  __builtin_va_end(l);
  return s;
}
NOINL struct P made(u64 x) { struct P p; p.a = x; p.b = (u32)x; for (int i = 0; i < 12; i++) p.c[i] = (u8)(x >> i); return p; }
NOINL struct P turned(struct P q, u32 i) { q.a += i; q.b ^= i; q.c[i % 12]++; if (i & 1) q.c[q.b % 12] += 3; return q; }
NOINL u64 many(u64 a, u32 b, u64 c, u8 e, u64 f, int g, struct S *s, u64 h, s16 i, double z) {
  s->a = a; return a + b * c + e - f + g + s->b + h * (u64)i + (u64)z;
}
"#;

impl Generator<'_> {
    /// The texts of all units.
    pub(crate) fn units(&mut self) -> Vec<String> {
        let units = self.shape.units;
        self.globals(units);
        self.declare(units);
        let prelude = self.prelude();
        let mut texts: Vec<String> = Vec::new();
        for unit in 0..units {
            self.unit = unit;
            let mut text = prelude.clone() + &self.own_globals(unit);
            for leaf in self.leaves.clone() {
                if leaf.unit == unit {
                    text += &self.leaf(&leaf);
                }
            }
            text += &self.coroutines_of_unit();
            for f in self.functions.clone() {
                if f.unit == unit {
                    text += &self.function(&f);
                }
            }
            texts.push(text);
        }
        let last = self.main_text();
        if let Some(first) = texts.first_mut() {
            first.push_str(&last);
        }
        texts
    }

    fn globals(&mut self, units: u32) {
        let types =
            ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "float", "double", "u32", "s32"];
        for i in 0..self.rng.range(3, 6) {
            let array = Array {
                name: format!("g{i}"),
                len: *self.rng.pick(&[32, 64, 128, 256]),
                ty: self.rng.word(&types),
            };
            let hidden = units == 1 && self.rng.chance(60);
            self.arrays.push((array, hidden));
        }
        let array = Array { name: "gw".to_owned(), len: 64, ty: "u32" };
        self.arrays.push((array, false));
    }

    fn declare(&mut self, units: u32) {
        for i in 0..self.rng.range(3, 4) {
            let unit = u32::try_from(self.rng.below(u64::from(units))).unwrap_or(0);
            let shared = self.rng.chance(if units == 1 { 40 } else { 80 });
            self.functions.push(Function { name: format!("f{i}"), unit, shared });
        }
        for i in 0..self.rng.range(1, 2) {
            let unit = u32::try_from(self.rng.below(u64::from(units))).unwrap_or(0);
            let ty = self.arrays[usize::try_from(i).unwrap_or(0)].0.ty;
            self.leaves.push(Leaf { name: format!("leaf_{i}"), unit, ty });
        }
    }

    fn prelude(&mut self) -> String {
        let mut text = String::new();
        let threads = if self.shape.threads() { "__thread" } else { "" };
        text += &format!("#define TL {threads}\n");
        let mut body = PRELUDE.to_owned();
        for i in 0..3 {
            let ty = self.rng.word(&INTEGERS);
            body = body.replace(&format!("ty{i}"), ty);
        }
        text += &body;
        text += if self.shape.cxx { unwinding::CXX } else { unwinding::C };
        if self.shape.coroutines {
            text += coroutines::TYPES;
        }
        for (a, hidden) in &self.arrays {
            if !hidden {
                text += &format!("extern TL {} {}[{}];\n", a.ty, a.name, a.len);
            }
        }
        for f in &self.functions {
            if f.shared {
                text += &format!("u64 {}(u64, struct S *, int);\n", f.name);
            }
        }
        text
    }

    fn own_globals(&mut self, unit: u32) -> String {
        let mut text = String::new();
        if unit == 0 {
            text += COMMON;
            for (a, hidden) in &self.arrays {
                let scope = if *hidden { "static " } else { "" };
                text += &format!("{scope}TL {} {}[{}];\n", a.ty, a.name, a.len);
            }
            text += if self.shape.cxx {
                "TL Thing *things[4];\n"
            } else {
                "TL jmp_buf places[16]; TL int jumps;\n"
            };
        }
        if unit + 1 == self.shape.units {
            text += modules::VARIADIC;
        }
        if unit == 0 && self.shape.plugins {
            text += modules::LOAD;
        }
        let mut table = Vec::new();
        for f in &self.functions {
            if f.unit == unit && !f.shared {
                text += &format!("static u64 {}(u64, struct S *, int);\n", f.name);
            }
            if f.unit == unit || f.shared {
                table.push(f.name.clone());
            }
        }
        text += "static NOINL u64 leaf0(u64 x, struct S *s, int d) { s->b ^= 1; return x + s->c[x & 3] + (u64)d; }\n";
        table.push("leaf0".to_owned());
        let four: Vec<String> = (0..4).map(|i| table[i % table.len()].clone()).collect();
        text + &format!("static Fn table[4] = {{{}}};\n", four.join(", "))
    }

    /// A function over two pointers, a length and a stride; it reaches 31 elements.
    fn leaf(&mut self, leaf: &Leaf) -> String {
        let whole = if matches!(leaf.ty, "float" | "double") { "(u64)(s64)" } else { "(u64)" };
        let known = [
            ("@name", leaf.name.clone()),
            ("@ty", leaf.ty.to_owned()),
            ("@whole", whole.to_owned()),
        ];
        self.rule_with(known, "leaffunction") + "\n"
    }

    pub(crate) fn arrays_of(&self, unit: u32) -> Vec<Array> {
        let seen = self.arrays.iter().filter(|(_, hidden)| !hidden || unit == 0);
        seen.map(|(a, _)| a.clone()).collect()
    }

    fn function(&mut self, f: &Function) -> String {
        let how = self.rule(if f.shared { "shared" } else { "private" });
        self.scope = Scope {
            arrays: self.arrays_of(f.unit),
            ints: vec!["x".to_owned()],
            pointers: vec!["s".to_owned()],
            weight: 1,
            ..Scope::default()
        };
        let mut begin = String::new();
        for i in 0..self.rng.below(4) {
            let ty = self.rng.word(&INTEGERS);
            begin += &format!("{ty} m{i} = ({ty})({}); ", self.expr(2));
            self.scope.ints.push(format!("m{i}"));
            self.scope.vars.push((format!("m{i}"), ty));
        }
        if self.rng.chance(30) {
            begin += "static TL u32 seen; seen++; ";
            self.scope.vars.push(("seen".to_owned(), "u32"));
            self.scope.ints.push("seen".to_owned());
        }
        self.most_statements = self.statements + u32::try_from(self.rng.range(10, 36)).unwrap_or(8);
        let n = self.rng.range(3, 6);
        let body = self.lines(n, 0);
        let last = self.rule("last");
        format!(
            "{how} u64 {}(u64 x, struct S *s, int d) {{\nsaid();\nif (d > 5 || --fuel < 0) return x;\n{begin}{body}{last}\n}}\n",
            f.name
        )
    }
}
