//! Statements whose parts depend on each other, so that they are no rows of the grammar.

use super::Generator;
use super::scope::{Array, INTEGERS, Scope, power_of_two};

impl Generator<'_> {
    /// One statement. It declares nothing for other statements, so any statement may be left out.
    fn statement(&mut self, depth: u32) -> String {
        let number = self.statements;
        self.statements += 1;
        let kept = std::mem::take(&mut self.kept);
        let around = std::mem::replace(&mut self.depth, depth);
        let is_last = depth > 4 || self.statements > self.most_statements;
        let text = self.rule(if is_last { "simple" } else { "statement" });
        (self.kept, self.depth) = (kept, around);
        if self.dropped.contains(&number) { ";".to_owned() } else { text }
    }

    /// `n` statements, in lines of their own.
    pub(crate) fn lines(&mut self, n: u64, depth: u32) -> String {
        let all: Vec<String> = (0..n).map(|_| self.statement(depth)).collect();
        format!("\n{}\n", all.join("\n"))
    }

    /// Does something with a copy of the scope, and restores the scope afterwards.
    pub(crate) fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let keep: Scope = self.scope.clone();
        let value = f(self);
        self.scope = keep;
        value
    }

    pub(crate) fn switch(&mut self) -> String {
        let n = self.rng.range(3, 9);
        let step = if self.rng.chance(30) { 1001 } else { 1 };
        let mut text = format!("switch (({} % {n}u) * {step}u) {{", self.expr(1));
        for case in 0..n {
            if self.rng.chance(65) {
                let body = self.lines(1, self.depth + 1);
                let end = if self.rng.chance(70) { " break;" } else { "" };
                text += &format!("\ncase {}: {{{body}}}{end}", case * step);
            }
        }
        if self.rng.chance(60) {
            text += &format!("\ndefault: {{{}}}", self.lines(1, self.depth + 1));
        }
        text + "\n}"
    }

    /// Jumps within a function: backward, into loops, computed, and out of inline assembly.
    pub(crate) fn goto(&mut self) -> String {
        self.scoped(|g| {
            g.scope.loops += 1;
            g.scope.weight *= 5;
            // `continue` could skip the counting.
            g.scope.breakable = false;
            g.rule("gotos")
        })
    }

    /// Library functions on memory.
    pub(crate) fn moved(&mut self) -> String {
        let (a, b) = (self.integer_array(), self.integer_array());
        match self.rng.below(3) {
            0 => {
                let length = self.length(a.bytes().min(b.bytes()));
                format!("memmove({}, {}, {length});", a.name, b.name)
            }
            1 => {
                let length = self.length(a.bytes());
                format!("memset({}, {}, {length});", a.name, self.rng.below(256))
            }
            _ => {
                let (by, length) = (self.rng.below(a.bytes() / 2), self.length(a.bytes() / 2));
                format!("memmove((u8 *){0} + {by}, {0}, {length});", a.name)
            }
        }
    }

    fn length(&mut self, most: u64) -> String {
        if self.rng.chance(40) {
            return self.rng.below(most + 1).to_string();
        }
        format!("({}) & {}", self.expr(2), power_of_two(most) - 1)
    }

    pub(crate) fn local_array(&mut self) -> String {
        let name = self.fresh("a");
        let (len, ty) = (*self.rng.pick(&[8, 16, 32]), self.rng.word(&INTEGERS));
        let (fill, at) = (self.rng.below(10), self.rng.below(len));
        let body = self.scoped(|g| {
            let array = Array { name: name.clone(), len, ty };
            g.scope.arrays.extend([array.clone(), array.clone(), array]);
            g.word("block")
        });
        format!(
            "{{ {ty} {name}[{len}]; memset({name}, {fill}, sizeof {name});{body}acc += (u64){name}[{at}]; }}"
        )
    }

    pub(crate) fn local_integer(&mut self) -> String {
        let (name, double) = (self.fresh("y"), self.fresh("z"));
        let (ty, value) = (self.rng.word(&INTEGERS), self.expr(1));
        let body = self.scoped(|g| {
            g.scope.ints.push(name.clone());
            g.scope.vars.push((name.clone(), ty));
            g.scope.doubles.push(double.clone());
            g.word("block")
        });
        format!(
            "{{ {ty} {name} = ({ty})({value}); double {double} = 1.5;{body}acc += (u64){name} + (u64){double}; }}"
        )
    }

    /// A function that this unit may call.
    pub(crate) fn callee(&mut self) -> String {
        let fits = self.functions.iter().filter(|f| f.shared || f.unit == self.unit);
        self.rng.one(fits.map(|f| f.name.clone())).unwrap_or_else(|| "leaf0".to_owned())
    }

    /// A call of a function that gets pointers, lengths and strides.
    pub(crate) fn leaf_call(&mut self) -> String {
        let fits = self.leaves.iter().filter(|l| l.unit == self.unit).cloned();
        let Some(leaf) = self.rng.one(fits) else {
            return self.rule("store");
        };
        // The function reaches at most 7 * 4 + 3 elements from where it begins.
        let fits = |array: &&Array| array.ty == leaf.ty && array.len >= 64;
        let arrays: Vec<_> = self.scope.arrays.iter().filter(fits).cloned().collect();
        if arrays.is_empty() || self.scope.weight > 60 {
            return self.rule("store");
        }
        let (a, b) = (&self.rng.pick(&arrays).name, &self.rng.pick(&arrays).name);
        let (i, j, n) = (self.index(32), self.index(32), self.expr(2));
        let step = self.rng.range(1, 4);
        format!("acc += {}({a} + ({i}), {b} + ({j}), {n} & 7, {step});", leaf.name)
    }
}
