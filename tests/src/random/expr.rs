//! Places in memory, and where in them.

use super::Generator;
use super::scope::{Array, power_of_two};

impl Generator<'_> {
    /// An expression of type `u64`; the level bounds its size.
    pub(crate) fn expr(&mut self, level: u32) -> String {
        self.at(level, "expr")
    }

    pub(crate) fn condition(&mut self, level: u32) -> String {
        self.at(level, "condition")
    }

    fn at(&mut self, level: u32, rule: &str) -> String {
        let around = std::mem::replace(&mut self.level, level);
        let text = self.rule(rule);
        self.level = around;
        text
    }

    /// An index below `n`, which is a power of two.
    pub(crate) fn index(&mut self, n: u64) -> String {
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
        format!("({}) & {}", self.expr(self.level + 2), n - 1)
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

    /// A byte in an integer array, with at least `room` bytes from there on.
    pub(crate) fn bytes(&mut self, room: u64) -> String {
        let fits = self.scope.arrays.iter().filter(|a| !a.is_float() && a.bytes() >= room);
        let array = self.rng.one(fits.cloned()).expect("`gw` is always there");
        let at = match array.bytes() - room {
            0 => "0".to_owned(),
            more => self.index(power_of_two(more)),
        };
        format!("(u8 *){} + ({at})", array.name)
    }

    /// An element of an array that fits, or a byte or a pointer to it, which are `odd`.
    pub(crate) fn element(&mut self, fits: impl Fn(&Array) -> bool, odd: bool) -> String {
        let fits = self.scope.arrays.iter().filter(|array| fits(array)).cloned();
        let Array { name, len, .. } = self.rng.one(fits).expect("such an array is there");
        let at = self.index(len);
        match odd {
            false => format!("{name}[{at}]"),
            true if self.rng.chance(50) => format!("((u8 *){name})[{at}]"),
            true => format!("(*({name} + ({at})))"),
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
}
