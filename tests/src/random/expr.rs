//! Expressions: all of type `u64`, none with undefined behaviour.

use super::Generator;
use super::scope::{Array, INTEGERS};

impl Generator<'_> {
    /// An expression of type `u64`; `depth` bounds its size.
    pub(crate) fn expr(&mut self, depth: u32) -> String {
        let kind = self.rng.below(if depth < 3 { 15 } else { 4 });
        match kind {
            0 => self.constant(),
            1 | 2 => self.integer(),
            3 => "acc".to_owned(),
            4 | 5 => self.load(depth + 1),
            6 => "(u64)vol".to_owned(),
            7..=9 => {
                let op = self.rng.word(&["+", "-", "*", "^", "&", "|"]);
                format!("({} {op} {})", self.expr(depth + 1), self.expr(depth + 1))
            }
            10 => {
                let by = self.rng.below(21);
                let op = self.rng.word(&[">>", "<<"]);
                format!("({} {op} {by})", self.expr(depth + 1))
            }
            11 => {
                let ty = self.rng.word(&INTEGERS);
                format!("(u64)({ty})({})", self.expr(depth + 1))
            }
            12 => {
                let condition = self.condition(depth + 1);
                let (a, b) = (self.expr(depth + 1), self.expr(depth + 1));
                format!("({condition} ? {a} : {b})")
            }
            13 => {
                let op = self.rng.word(&["/", "%"]);
                format!("({} {op} ({} | 1u))", self.expr(depth + 1), self.expr(depth + 1))
            }
            _ => {
                let name = ["__builtin_popcountll", "__builtin_bswap64", "(u64)-"];
                format!("(u64){}({})", self.rng.pick(&name), self.expr(depth + 1))
            }
        }
    }

    fn constant(&mut self) -> String {
        let all = [0, 1, 2, 3, 5, 7, 16, 31, 100, 255, 256, 1000, 65_535, 4_294_967_280_u64];
        format!("(u64){}u", self.rng.pick(&all))
    }

    fn integer(&mut self) -> String {
        match self.scope.ints.len() {
            0 => "acc".to_owned(),
            _ => format!("(u64){}", self.rng.pick(&self.scope.ints)),
        }
    }

    pub(crate) fn condition(&mut self, depth: u32) -> String {
        match self.rng.below(4) {
            0 | 1 => {
                let mask = *self.rng.pick(&[1, 2, 3, 7]);
                format!("(({} & {mask}) != 0)", self.expr(depth + 1))
            }
            2 => {
                let op = self.rng.word(&["<", ">", "==", "!=", "<=", ">="]);
                format!("({} {op} {})", self.expr(depth + 1), self.expr(depth + 1))
            }
            _ => {
                let ty = self.rng.word(&["s8", "s16", "s32", "s64"]);
                let op = self.rng.word(&["<", ">"]);
                format!("(({ty})({}) {op} ({ty})({}))", self.expr(depth + 1), self.expr(depth + 1))
            }
        }
    }

    /// An index below `n`, which is a power of two.
    pub(crate) fn index(&mut self, n: u64, depth: u32) -> String {
        if !self.scope.counters.is_empty() && self.rng.chance(65) {
            return self.affine(n);
        }
        if !self.scope.wide.is_empty() && self.rng.chance(60) {
            let v = self.rng.pick(&self.scope.wide).clone();
            let c = self.rng.below(n);
            return match self.rng.below(3) {
                0 => format!("({v} + {c}u) & {}", n - 1),
                1 => format!("(u64){v} & {}", n - 1),
                _ => format!("(u64)({v} * {c}u) % {n}u"),
            };
        }
        format!("({}) & {}", self.expr(depth.max(1) + 1), n - 1)
    }

    /// An index that is affine in one or two counters, or one of them masked.
    fn affine(&mut self, n: u64) -> String {
        let a = self.rng.pick(&self.scope.counters).clone();
        let v = &a.name;
        if a.most >= n || self.rng.chance(15) {
            let c = self.rng.below(n);
            let k = self.rng.range(1, 9);
            return format!("(u64)({v} * {k} + {c}) & {}", n - 1);
        }
        if self.rng.chance(20) {
            return format!("{} - {v}", n - 1);
        }
        let factor = self.rng.range(1, ((n - 1) / a.most.max(1)).clamp(1, 9));
        let mut left = n - 1 - factor * a.most;
        let mut text = if factor == 1 { v.clone() } else { format!("{v} * {factor}") };
        if self.rng.chance(50) {
            let b = self.rng.pick(&self.scope.counters).clone();
            if b.most <= left && b.name != a.name {
                let factor = self.rng.range(1, (left / b.most.max(1)).clamp(1, 8));
                left -= factor * b.most;
                text += &format!(" + {} * {factor}", b.name);
            }
        }
        match self.rng.below(3) {
            0 => text,
            1 => format!("{text} + {}", self.rng.below(left + 1)),
            _ => format!("{left} + {text}"),
        }
    }

    /// A place in memory and its type.
    pub(crate) fn place(&mut self, depth: u32) -> (String, &'static str) {
        let kind = self.rng.below(12);
        match kind {
            0 => {
                let field = self.rng.pick(&["a", "b", "d"]);
                (format!("pool[{}].{field}", self.index(64, depth)), "u64")
            }
            1 => {
                let (i, j) = (self.index(64, depth), self.index(4, depth));
                (format!("pool[{i}].c[{j}]"), "u32")
            }
            2 if !self.scope.pointers.is_empty() => {
                let field = self.rng.pick(&["a", "b", "d"]);
                (format!("{}->{field}", self.rng.pick(&self.scope.pointers)), "u64")
            }
            3 => {
                let field = self.rng.pick(&["p", "q", "r", "t", "u"]);
                (format!("bits[{}].{field}", self.index(16, depth)), "u64")
            }
            4 => match self.rng.below(3) {
                0 => (format!("mix[{}].w", self.index(8, depth)), "u64"),
                1 => (format!("mix[{}].h[{}]", self.index(8, depth), self.index(4, depth)), "u16"),
                _ => (format!("mix[{}].b[{}]", self.index(8, depth), self.index(8, depth)), "u8"),
            },
            5 => {
                let (i, j) = (self.index(16, depth), self.index(16, depth));
                (format!("grid[{i}][{j}]"), "u32")
            }
            6 => {
                let a = self.integer_array();
                (format!("((u8 *){})[{}]", a.name, self.index(a.len, depth)), "u8")
            }
            7 => {
                let a = self.array();
                (format!("(*({} + ({})))", a.name, self.index(a.len, depth)), a.ty)
            }
            _ => {
                let a = self.array();
                (format!("{}[{}]", a.name, self.index(a.len, depth)), a.ty)
            }
        }
    }

    pub(crate) fn array(&mut self) -> Array {
        self.rng.pick(&self.scope.arrays).clone()
    }

    /// An array in scope whose elements are integers.
    pub(crate) fn integer_array(&mut self) -> Array {
        let fits = self.scope.arrays.iter().filter(|a| !a.is_float()).cloned();
        self.rng.one(fits).expect("`gw` is always there")
    }

    fn load(&mut self, depth: u32) -> String {
        let (place, ty) = self.place(depth);
        if matches!(ty, "float" | "double") {
            format!("(u64)(s64){place}")
        } else {
            format!("(u64){place}")
        }
    }

    pub(crate) fn store(&mut self) -> String {
        let (place, ty) = self.place(0);
        if matches!(ty, "float" | "double") {
            return match self.rng.below(3) {
                0 => format!("{place} = ({ty})({} & 1023u);", self.expr(1)),
                1 => format!("{place} = {place} * ({ty})0.5 + ({ty})({} & 63u);", self.expr(2)),
                _ => format!("{place} *= ({ty})0.25;"),
            };
        }
        let value = self.expr(0);
        match self.rng.below(4) {
            0 | 1 => format!("{place} = {value};"),
            2 => format!("{place} = (u64){place} + ({value});"),
            _ => format!("{place} = (u64){place} ^ ({value});"),
        }
    }
}
