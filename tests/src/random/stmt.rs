//! Statements of the generated programs.

use super::Generator;
use super::scope::{Array, INTEGERS, Scope, power_of_two};

impl Generator<'_> {
    /// One statement. It declares nothing for other statements, so any statement may be left out.
    pub(crate) fn statement(&mut self, depth: u32) -> String {
        let number = self.statements;
        self.statements += 1;
        let text = self.any(depth);
        if self.dropped.contains(&number) {
            return ";".to_owned();
        }
        text
    }

    /// One to four statements, fewer where they are nested deeply.
    pub(crate) fn block(&mut self, depth: u32) -> String {
        let most = if depth > 2 { 1 } else { 3 };
        let n = self.rng.range(1, most);
        self.some(n, depth)
    }

    /// `n` statements.
    pub(crate) fn some(&mut self, n: u64, depth: u32) -> String {
        let all: Vec<String> = (0..n).map(|_| self.statement(depth)).collect();
        all.join("\n")
    }

    /// Does something with a copy of the scope, and restores the scope afterwards.
    pub(crate) fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let keep: Scope = self.scope.clone();
        let value = f(self);
        self.scope = keep;
        value
    }

    fn any(&mut self, depth: u32) -> String {
        if depth > 4 || self.statements > self.most_statements {
            return self.simple();
        }
        match self.rng.weighted(&[26, 26, 11, 13, 6, 22, 6, 12]) {
            0 => self.simple(),
            1 => self.any_loop(depth),
            2 => self.kernel(),
            3 => self.branch(depth),
            4 => self.switch(depth),
            5 => self.call_or_leave(depth),
            6 => self.jumps(depth),
            _ => self.memory(depth),
        }
    }

    fn simple(&mut self) -> String {
        match self.rng.below(14) {
            0..=4 => self.store(),
            5 | 6 if !self.scope.vars.is_empty() => {
                let (name, ty) = self.rng.pick(&self.scope.vars).clone();
                format!("{name} = ({ty})({});", self.expr(0))
            }
            7 if !self.scope.doubles.is_empty() => {
                let name = self.rng.pick(&self.scope.doubles).clone();
                format!("{name} = {name} * 0.5 + (double)({} & 255u);", self.expr(1))
            }
            8 => {
                let (i, op) = (self.index(64, 1), self.rng.pick(&["add", "xor", "or"]).to_string());
                let value = self.expr(2);
                format!("acc += __atomic_fetch_{op}(&pool[{i}].c[0], (u32)({value}), 5);")
            }
            9 => self.vector(),
            10 if self.shape.threads() => {
                let by = self.expr(2);
                format!("__atomic_fetch_add(&shared_sum, {by} & 255u, 0);")
            }
            11 => {
                let (i, j) = (self.index(64, 1), self.index(64, 1));
                format!("pool_copy(&pool[{i}], &pool[{j}]);")
            }
            _ => format!("acc = acc * 31u + ({});", self.expr(0)),
        }
    }

    /// Vector extensions: unaligned loads, lane-wise arithmetic, selection by comparison, a
    /// shuffle.
    fn vector(&mut self) -> String {
        let a = self.integer_array();
        let b = self.integer_array();
        if a.bytes().min(b.bytes()) < 32 {
            return self.store();
        }
        let (i, j) = (self.bytes_index(&a, 32), self.bytes_index(&b, 32));
        let (ty, lanes) =
            *self.rng.pick(&[("u32x4", 4), ("u32x8", 8), ("u16x16", 16), ("u64x4", 4)]);
        let op = self.rng.word(&["+", "*", "^", "-", "&"]);
        let lane = self.rng.below(lanes);
        let last = match self.rng.below(3) {
            0 => format!("vy = ({ty})(vx > vy) & vx;"),
            1 => format!("vy = ({ty})__builtin_shufflevector(vx, vy, {});", shuffle(lanes)),
            _ => "vy += vx;".to_owned(),
        };
        let store = if self.rng.chance(70) {
            format!("memcpy((u8 *){} + ({i}), &vy, sizeof vy);", a.name)
        } else {
            String::new()
        };
        format!(
            "{{ {ty} vx, vy; memcpy(&vx, (u8 *){} + ({i}), sizeof vx); memcpy(&vy, (u8 *){} + ({j}), sizeof vy); vy = vx {op} vy; {last} {store} acc += (u64)vy[{lane}]; }}",
            a.name, b.name
        )
    }

    /// A byte offset in an array with at least `room` bytes after it.
    fn bytes_index(&mut self, a: &Array, room: u64) -> String {
        let bytes = a.bytes();
        if bytes <= room {
            return "0".to_owned();
        }
        self.index(power_of_two(bytes - room), 1)
    }

    fn branch(&mut self, depth: u32) -> String {
        let condition = self.condition(0);
        let then = self.block(depth + 1);
        match self.rng.below(3) {
            0 => format!("if ({condition}) {{\n{then}\n}}"),
            1 => format!("if ({condition}) {{\n{then}\n}} else {{\n{}\n}}", self.block(depth + 1)),
            _ => {
                let second = self.condition(1);
                let (a, b) = (self.block(depth + 1), self.statement(depth + 1));
                format!(
                    "if ({condition}) {{\n{then}\n}} else if ({second}) {{\n{a}\n}} else {{\n{b}\n}}"
                )
            }
        }
    }

    fn switch(&mut self, depth: u32) -> String {
        let n = self.rng.range(3, 9);
        let sparse = self.rng.chance(30);
        let mut text = format!("switch (({}) % {n}u) {{", self.expr(1));
        if sparse {
            text = format!("switch (({} % {n}u) * 1001u) {{", self.expr(1));
        }
        for case in 0..n {
            if self.rng.chance(35) {
                continue;
            }
            let value = if sparse { case * 1001 } else { case };
            let body = self.statement(depth + 1);
            let end = if self.rng.chance(70) { " break;" } else { "" };
            text += &format!("\ncase {value}: {{\n{body}\n}}{end}");
        }
        if self.rng.chance(60) {
            text += &format!("\ndefault: {{\n{}\n}}", self.statement(depth + 1));
        }
        text + "\n}"
    }

    /// Library functions on memory, blocks of the heap, and local arrays and integers.
    fn memory(&mut self, depth: u32) -> String {
        match self.rng.below(10) {
            0 => {
                let (a, b) = (self.integer_array(), self.integer_array());
                let most = a.bytes().min(b.bytes());
                let length = self.length(most);
                format!("memmove({}, {}, {length});", a.name, b.name)
            }
            1 => {
                let a = self.integer_array();
                let length = self.length(a.bytes());
                format!("memset({}, {}, {length});", a.name, self.rng.below(256))
            }
            2 => {
                let a = self.integer_array();
                let half = a.bytes() / 2;
                let length = self.length(half);
                let by = self.rng.below(half);
                format!("memmove((u8 *){0} + {by}, {0}, {length});", a.name)
            }
            3 if self.scope.weight <= 8 => self.heap(),
            4 if self.scope.loops == 0 && self.scope.suspend.is_none() => {
                let (n, x) = (self.fresh("n"), self.fresh("x"));
                let count = self.expr(2);
                format!(
                    "{{ u32 {n} = (u32)({count}) & 31; u32 *{x} = (u32 *)__builtin_alloca(4 * ({n} + 1)); for (u32 q = 0; q <= {n}; q++) {x}[q] = q ^ (u32)acc; acc += {x}[{n} / 2]; }}"
                )
            }
            5 if self.scope.weight <= 4 => {
                let a =
                    ["u32", "s32"].map(|t| self.scope.arrays.iter().find(|a| a.ty == t).cloned());
                match a.into_iter().flatten().next() {
                    Some(a) => format!("qsort({}, {}, 4, by_value);", a.name, a.len.min(32)),
                    None => "acc += 3;".to_owned(),
                }
            }
            6 => format!("acc += strlen(&\"abcdefghijklmno\"[{}]);", self.index(16, 1)),
            7 | 8 => self.local_array(depth),
            _ => self.local_integer(depth),
        }
    }

    fn length(&mut self, most: u64) -> String {
        if self.rng.chance(40) {
            return self.rng.below(most + 1).to_string();
        }
        format!("({}) & {}", self.expr(2), power_of_two(most) - 1)
    }

    fn heap(&mut self) -> String {
        let h = self.fresh("h");
        let (k, i) = (self.rng.range(1, 99), self.index(64, 1));
        let how = *self.rng.pick(&["malloc(256)", "calloc(64, 4)", "realloc(0, 256)"]);
        format!(
            "{{ u32 *{h} = (u32 *){how}; for (u32 z = 0; z < 64; z++) {h}[z] = z * {k}u; for (u32 z = 1; z < 64; z++) {h}[z] += {h}[z - 1] + {h}[{h}[z] & 63]; acc += {h}[{i}]; free({h}); }}"
        )
    }

    fn local_array(&mut self, depth: u32) -> String {
        let name = self.fresh("a");
        let (len, ty) = (*self.rng.pick(&[8, 16, 32]), self.rng.word(&INTEGERS));
        let fill = self.rng.below(10);
        let body = self.scoped(|g| {
            let array = Array { name: name.clone(), len, ty };
            g.scope.arrays.extend([array.clone(), array.clone(), array]);
            g.block(depth + 1)
        });
        let i = self.rng.below(len);
        format!(
            "{{ {ty} {name}[{len}]; memset({name}, {fill}, sizeof {name});\n{body}\nacc += (u64){name}[{i}]; }}"
        )
    }

    fn local_integer(&mut self, depth: u32) -> String {
        let name = self.fresh("y");
        let ty = self.rng.word(&INTEGERS);
        let (value, double) = (self.expr(1), self.fresh("z"));
        let body = self.scoped(|g| {
            g.scope.ints.push(name.clone());
            g.scope.vars.push((name.clone(), ty));
            g.scope.doubles.push(double.clone());
            g.block(depth + 1)
        });
        format!(
            "{{ {ty} {name} = ({ty})({value}); double {double} = 1.5;\n{body}\nacc += (u64){name} + (u64){double}; }}"
        )
    }
}

fn shuffle(lanes: u64) -> String {
    let lanes: Vec<String> = (0..lanes).map(|i| ((i * 3 + 1) % (2 * lanes)).to_string()).collect();
    lanes.join(", ")
}
