//! Calls of every kind, and the ways to leave a function besides `return`.

use super::Generator;

impl Generator<'_> {
    pub(crate) fn call_or_leave(&mut self, depth: u32) -> String {
        if self.scope.weight > 24 {
            return match self.rng.below(3) {
                0 => self.leaf_call(),
                _ => self.simple_leave(),
            };
        }
        match self.rng.below(28) {
            0..=5 => self.call(),
            6 | 7 => self.indirect(),
            8 => {
                let (a, b) = (self.expr(1), self.expr(2));
                format!("acc ^= sum_of({}, {a}, {b}, acc, (u64)vol);", self.rng.range(0, 4))
            }
            9 => {
                let (i, a) = (self.expr(2), self.expr(1));
                format!(
                    "{{ struct P z = turned(made({a}), (u32)({i})); acc += z.a ^ z.c[z.b % 12]; }}"
                )
            }
            10 => {
                let (a, b, c) = (self.expr(1), self.expr(2), self.index(64, 1));
                format!("acc += many({a}, 2, {b}, 4, acc, 6, &pool[{c}], 8, 9, 2.5);")
            }
            11 | 12 => self.leaf_call(),
            13..=16 if self.shape.cxx => self.exception(depth),
            13..=15 if !self.shape.cxx => self.jump_out(),
            17 if self.shape.cxx => {
                format!("acc += things[{}]->turn({});", self.index(4, 1), self.expr(1))
            }
            18 | 19 => self.varied(),
            20 | 21 if self.shape.signals() => self.raised(),
            22..=24 if self.shape.coroutines => self.driven(),
            25..=27 if self.scope.suspend.is_some() && !self.scope.catching => self.suspended(),
            _ => self.simple_leave(),
        }
    }

    /// `return`, `break` or `continue` on a condition.
    fn simple_leave(&mut self) -> String {
        let condition = self.condition(0);
        if self.scope.breakable && self.rng.chance(70) {
            let word = self.rng.word(&["break", "continue"]);
            return format!("if ({condition}) {word};");
        }
        let (second, value) = (self.condition(1), self.expr(2));
        let leave = match self.scope.suspend {
            Some(kind) => kind.leave(&value),
            None => format!("return acc + ({value});"),
        };
        format!("if ({condition} && {second}) {leave}")
    }

    /// A call of a function that this unit may call.
    pub(crate) fn call(&mut self) -> String {
        let fits = self.functions.iter().filter(|f| f.shared || f.unit == self.unit);
        let Some(f) = self.rng.one(fits.map(|f| f.name.clone())) else {
            return self.store();
        };
        let (x, i) = (self.expr(1), self.index(64, 1));
        format!("acc += {f}({x}, &pool[{i}], d + 1);")
    }

    fn indirect(&mut self) -> String {
        let (x, i, which) = (self.expr(1), self.index(64, 1), self.index(4, 1));
        format!("acc += table[{which}]({x}, &pool[{i}], d + 1);")
    }

    /// A call of a function that gets pointers, lengths and strides.
    fn leaf_call(&mut self) -> String {
        let fits = self.leaves.iter().filter(|l| l.unit == self.unit).cloned();
        let Some(leaf) = self.rng.one(fits) else {
            return self.store();
        };
        let arrays: Vec<_> =
            self.scope.arrays.iter().filter(|a| a.ty == leaf.ty).cloned().collect();
        if arrays.is_empty() {
            return self.store();
        }
        let (a, b) = (self.rng.pick(&arrays).clone(), self.rng.pick(&arrays).clone());
        // The function reaches at most 7 * 4 + 3 elements from where it begins.
        if a.len.min(b.len) < 64 || self.scope.weight > 60 {
            return self.store();
        }
        let (i, j) = (self.index(32, 1), self.index(32, 1));
        let (n, step) = (self.expr(2), self.rng.range(1, 4));
        format!("acc += {}({} + ({i}), {} + ({j}), {n} & 7, {step});", leaf.name, a.name, b.name)
    }

    fn exception(&mut self, depth: u32) -> String {
        match self.rng.below(13) {
            9..=12 => self.unwinding(),
            0 | 8 if self.scope.may_leave => {
                format!("if (d > 1 && {}) throw (int)(acc & 15);", self.condition(0))
            }
            1 if self.scope.may_leave => {
                let (condition, value) = (self.condition(0), self.expr(1));
                format!("if (d > 1 && {condition}) throw Oops{{{value}, 3}};")
            }
            0..=2 | 8 => {
                let (name, x) = (self.fresh("guard"), self.expr(1));
                let body = self.some(2, depth + 2);
                format!("{{ Guard {name}({x});\n{body}\n}}")
            }
            3 => {
                let (first, condition) = (self.some(1, depth + 2), self.condition(1));
                let call = self.call();
                format!(
                    "try {{\n{first}\nif ({condition}) throw (int)(acc & 7);\n{call}\n}} catch (int e) {{ acc += e; }}"
                )
            }
            4 => {
                let (g, x, call) = (self.fresh("guard"), self.expr(1), self.call());
                // A coroutine must not suspend itself in a handler.
                let last = self.scoped(|g| {
                    g.scope.catching = true;
                    g.some(1, depth + 2)
                });
                format!(
                    "try {{ Guard {g}({x});\n{call}\n}} catch (const Oops &e) {{ acc ^= e.a;\n{last}\n}} catch (...) {{ acc += 77; }}"
                )
            }
            5 => {
                let (call, g) = (self.call(), self.fresh("guard"));
                let condition = self.condition(1);
                format!(
                    "try {{ try {{\n{call}\nif ({condition}) throw 5; }} catch (int) {{ Guard {g}(acc); throw; }} }} catch (int e) {{ acc += 9 * e; }} catch (Oops &e) {{ acc += e.b; }}"
                )
            }
            6 => {
                let (k, call) = (self.fresh("k"), self.call());
                let condition = self.condition(1);
                format!(
                    "for (int {k} = 0; {k} < 4; {k}++) {{ try {{ if ({condition}) throw {k}; {call} }} catch (int e) {{ acc += e; if (e > 9) break; continue; }} catch (Oops) {{ acc -= 3; }} }}"
                )
            }
            _ => {
                let (n, x) = (self.fresh("guard"), self.expr(1));
                let (call, second) = (self.call(), self.call());
                format!(
                    "try {{ Guard {n}({x}); {call} Guard {n}b(acc); {second} }} catch (...) {{ acc += 1; if (d > 2) throw; }}"
                )
            }
        }
    }

    /// setjmp around a call, longjmp to the innermost of them.
    fn jump_out(&mut self) -> String {
        if self.scope.may_leave && self.rng.chance(40) {
            let condition = self.condition(0);
            return format!(
                "if (d > 1 && jumps > 0 && {condition}) longjmp(places[jumps - 1], 1 + (int)(acc & 3));"
            );
        }
        if self.rng.chance(40) {
            return self.jump_over();
        }
        let (q, call) = (self.fresh("q"), self.call());
        format!(
            "if (jumps < 8) {{ int {q} = jumps++; if (!setjmp(places[{q}])) {{ {call} }} else {{ acc += 5; }} jumps = {q}; }}"
        )
    }

    /// Jumps within a function: backward, into loops, computed, and out of inline assembly.
    pub(crate) fn jumps(&mut self, depth: u32) -> String {
        if self.scope.loops >= 3 {
            return self.store();
        }
        let (l, m, k) = (self.fresh("L"), self.fresh("M"), self.fresh("k"));
        let most = self.rng.range(2, 5);
        let text = self.scoped(|g| {
            g.scope.loops += 1;
            g.scope.weight *= most;
            // `continue` could skip the counting of the goto loop.
            g.scope.breakable = false;
            let (a, b) = (g.some(1, depth + 2), g.some(1, depth + 2));
            let condition = g.condition(0);
            match g.rng.below(8) {
                0..=2 => format!(
                    "{{ int {k} = 0; {l}: ;\n{a}\n{b}\nif (++{k} < {most} && {condition}) goto {l}; }}"
                ),
                3 | 4 => format!(
                    "{{ int {k} = 0; if ({condition}) goto {m}; {l}: ;\n{a}\n{m}: ;\n{b}\nif (++{k} < {most}) goto {l}; }}"
                ),
                5 => format!(
                    "{{ int {k} = 0; if ({condition}) goto {m}; for (; {k} < {most}; {k}++) {{\n{a}\n{m}: ;\n{b}\n}} }}"
                ),
                6 => {
                    let e = g.fresh("E");
                    let x = g.expr(1);
                    format!(
                        "{{ static void *const {k}to[] = {{&&{l}, &&{m}, &&{e}}}; int {k} = 0; goto *{k}to[({x}) % 3];\n{l}: ;\n{a}\nif (++{k} > {most}) goto {e}; goto *{k}to[acc % 3];\n{m}: ;\n{b}\nif (++{k} < {most}) goto *{k}to[(acc >> 3) & 1];\n{e}: ; }}"
                    )
                }
                _ => format!(
                    "{{ asm goto(\"testl %0, %0; jne %l1\" : : \"r\"((int)({condition})) : \"cc\" : {l});\n{a}\n{l}: ;\n{b}\n}}"
                ),
            }
        });
        // A jump past an initialization is an error in C++.
        if self.shape.cxx { self.scoped(|g| g.store()) } else { text }
    }
}
