//! Loops: every loop ends, whatever its body does to memory.

use super::Generator;
use super::scope::{Counter, power_of_two};

/// About how often the body of nested loops may run in one call of a function.
const MOST_WEIGHT: u64 = 400;

impl Generator<'_> {
    pub(crate) fn any_loop(&mut self, depth: u32) -> String {
        if self.scope.loops >= 4 || self.scope.weight * 3 > MOST_WEIGHT {
            return self.store();
        }
        self.scoped(|g| {
            g.scope.loops += 1;
            g.scope.breakable = true;
            let text = match g.rng.below(16) {
                0..=3 => g.up(depth),
                4 | 5 => g.down(depth),
                6 => g.unequal(depth),
                7 => g.wrapping(depth),
                8 | 9 => g.nest(depth),
                10 => g.leaving(depth),
                11 => g.data_dependent(depth),
                12 => g.walk(depth),
                13 => g.list(depth),
                14 => g.limit_in_memory(depth),
                _ => g.wide(depth),
            };
            format!("{{ {text} }}")
        })
    }

    /// A trip count: its text and its largest value.
    fn trips(&mut self) -> (String, u64) {
        let room = (MOST_WEIGHT / self.scope.weight.max(1)).max(2);
        let all = [2, 3, 5, 8, 9, 15, 16, 33, 100];
        let most = self.rng.one(all.into_iter().filter(|m| *m <= room)).unwrap_or(2);
        if self.rng.chance(60) {
            return (most.to_string(), most);
        }
        let mask = power_of_two(most) - 1;
        (format!("({}) & {mask}", self.expr(2)), mask)
    }

    fn enter(&mut self, name: &str, most: u64, trips: u64) {
        self.scope.counters.push(Counter { name: name.to_owned(), most });
        self.count(name, trips);
    }

    fn enter_wide(&mut self, name: &str, trips: u64) {
        self.scope.wide.push(name.to_owned());
        self.count(name, trips);
    }

    fn count(&mut self, name: &str, trips: u64) {
        self.scope.ints.push(name.to_owned());
        self.scope.weight *= trips.max(1);
    }

    fn counter_type(&mut self) -> &'static str {
        self.rng.word(&["int", "int", "u32", "s64", "u64", "u8", "s8", "u16", "s16"])
    }

    fn up(&mut self, depth: u32) -> String {
        let (v, l, ty) = (self.fresh("i"), self.fresh("n"), self.counter_type());
        let (limit, most) = self.trips();
        let (start, step) = match self.rng.below(3) {
            0 => (self.rng.below(3), self.rng.range(1, 4)),
            _ => (0, 1),
        };
        self.enter(&v, most.saturating_sub(1).max(start), most);
        let body = self.block(depth + 1);
        let test = self.rng.word(&["<", "<"]);
        format!(
            "{ty} {l} = ({ty})({limit}); for ({ty} {v} = {start}; {v} {test} {l}; {v} += {step}) {{\n{body}\n}}"
        )
    }

    fn down(&mut self, depth: u32) -> String {
        let (v, ty) = (self.fresh("i"), self.counter_type());
        let (limit, most) = self.trips();
        self.enter(&v, most, most);
        let body = self.block(depth + 1);
        match self.rng.below(3) {
            0 => format!("for ({ty} {v} = ({ty})({limit}); {v} > 0; {v}--) {{\n{body}\n}}"),
            1 => format!("for ({ty} {v} = ({ty})({limit}); {v}-- > 0;) {{\n{body}\n}}"),
            _ => format!("{ty} {v} = ({ty})({limit}); while ({v} != 0) {{ {v}--;\n{body}\n}}"),
        }
    }

    fn unequal(&mut self, depth: u32) -> String {
        let (v, e, ty) =
            (self.fresh("i"), self.fresh("e"), self.rng.word(&["int", "u32", "u64", "u16"]));
        let (limit, most) = self.trips();
        let step = self.rng.range(1, 5);
        self.enter(&v, most * step, most);
        let body = self.block(depth + 1);
        format!(
            "{ty} {e} = ({ty})(({limit}) * {step}u); for ({ty} {v} = 0; {v} != {e}; {v} += {step}) {{\n{body}\n}}"
        )
    }

    /// A counter of few bits that wraps around.
    fn wrapping(&mut self, depth: u32) -> String {
        let (v, k) = (self.fresh("w"), self.fresh("k"));
        let ty = self.rng.word(&["u8", "s8", "u16", "s16", "u32"]);
        let (_, most) = self.trips();
        let (start, step) = (*self.rng.pick(&[-3_i32, -1, 0, 120, 250]), self.rng.range(1, 7));
        let sign = self.rng.word(&["+", "-"]);
        self.enter_wide(&v, most);
        let body = self.block(depth + 1);
        format!(
            "{ty} {v} = ({ty}){start}; u32 {k} = 0; do {{ {v} = ({ty})({v} {sign} {step});\n{body}\n}} while (++{k} < {most});"
        )
    }

    /// Counters of 32 and 64 bits that begin just below zero or above 2^32.
    fn wide(&mut self, depth: u32) -> String {
        let v = self.fresh("w");
        let (_, most) = self.trips();
        let (ty, from, to) = match self.rng.below(4) {
            0 => ("u32", format!("0u - {most}u"), "0".to_owned()),
            1 => ("u64", format!("(u64)0 - {most}u"), "0".to_owned()),
            2 => ("u64", "0x100000000u".to_owned(), format!("0x100000000u + {most}u")),
            _ => ("s64", format!("-(s64){most}"), "0".to_owned()),
        };
        self.enter_wide(&v, most);
        let body = self.block(depth + 1);
        format!("for ({ty} {v} = {from}; {v} != {to}; {v}++) {{\n{body}\n}}")
    }

    /// Two counters: square, triangular, transposed.
    fn nest(&mut self, depth: u32) -> String {
        let (v, w) = (self.fresh("i"), self.fresh("j"));
        let room = MOST_WEIGHT / self.scope.weight.max(1);
        let m = if room >= 64 { *self.rng.pick(&[4, 8, 15]) } else { 3 };
        let inner = match self.rng.below(4) {
            0 => format!("for (int {w} = 0; {w} < {m}; {w}++)"),
            1 => format!("for (int {w} = {v}; {w} < {m}; {w}++)"),
            2 => format!("for (int {w} = 0; {w} < {v}; {w}++)"),
            _ => format!("for (int {w} = {m}; {w}-- > 0;)"),
        };
        self.enter(&v, m - 1, m);
        let before = if self.rng.chance(30) { self.store() } else { String::new() };
        self.enter(&w, m - 1, m);
        let body = if self.rng.chance(60) { self.some(1, 5) } else { self.some(1, depth + 2) };
        format!("for (int {v} = 0; {v} < {m}; {v}++) {{\n{before}\n{inner} {{\n{body}\n}}\n}}")
    }

    /// A loop that is left and begun again in the middle.
    fn leaving(&mut self, depth: u32) -> String {
        let k = self.fresh("k");
        let (limit, most) = self.trips();
        self.enter(&k, most + 1, most);
        let (a, b) = (self.block(depth + 1), self.statement(depth + 1));
        let (first, second) = (self.condition(1), self.condition(1));
        let one = self.rng.word(&["break", "continue"]);
        let two = self.rng.word(&["break", "continue", "break"]);
        format!(
            "u64 {k} = 0; for (;;) {{ if ({k}++ >= (u64)({limit})) break;\n{a}\nif ({first}) {one};\n{b}\nif ({second}) {two};\n}}"
        )
    }

    /// A loop whose number of iterations comes from the values.
    fn data_dependent(&mut self, depth: u32) -> String {
        let (v, k) = (self.fresh("x"), self.fresh("k"));
        let start = self.expr(1);
        self.scope.weight *= 8;
        self.scope.ints.push(v.clone());
        self.scope.wide.push(v.clone());
        let kind = self.rng.below(3);
        let body = self.some(1, depth + 1);
        match kind {
            0 => format!(
                "u64 {v} = ({start} & 63u) | 1u; int {k} = 0; while ({v} != 1 && {k}++ < 40) {{ {v} = {v} & 1 ? 3 * {v} + 1 : {v} >> 1;\n{body}\n}}"
            ),
            1 => format!("for (u64 {v} = {start} & 0xfffu; {v}; {v} &= {v} - 1) {{\n{body}\n}}"),
            _ => {
                let a = self.integer_array();
                format!(
                    "u64 {v} = {start} & {m}u; int {k} = 0; do {{\n{body}\n{v} = ((u64){n}[{v}] + {k}) & {m}u; }} while ({v} && ++{k} < 9);",
                    m = a.len - 1,
                    n = a.name
                )
            }
        }
    }

    /// A pointer that moves through an array.
    fn walk(&mut self, depth: u32) -> String {
        let (p, e, a) = (self.fresh("p"), self.fresh("e"), self.integer_array());
        let n = a.len.min((MOST_WEIGHT / self.scope.weight.max(1)).max(2)).min(32);
        self.scope.weight *= n;
        let extra = if self.rng.chance(40) { self.some(1, depth + 1) } else { String::new() };
        let (ty, name) = (a.ty, a.name);
        let touch = match self.rng.below(3) {
            0 => format!("acc += (u64)*{p};"),
            1 => format!("*{p} = ({ty})(*{p} ^ 3);"),
            _ => format!("acc += (u64)*{p}; *{p} = ({ty})acc;"),
        };
        match self.rng.below(4) {
            0 => format!(
                "for ({ty} *{p} = {name}, *{e} = {name} + {n}; {p} != {e}; {p}++) {{ {touch} {extra} }}"
            ),
            1 => format!(
                "for ({ty} *{p} = {name} + {n}, *{e} = {name}; {p}-- > {e};) {{ {touch} {extra} }}"
            ),
            2 => format!(
                "{ty} *{p} = {name}, *{e} = {name} + {n}; while ({p} < --{e}) {{ {ty} z = *{e}; *{e} = *{p}; *{p}++ = z; {extra} }}"
            ),
            _ => format!(
                "for (u8 *{p} = (u8 *){name}, *{e} = {p} + {n}; {p} < {e}; {p} += 2) {{ acc = acc * 3 + *{p}; {extra} }}"
            ),
        }
    }

    fn list(&mut self, depth: u32) -> String {
        let p = self.fresh("p");
        self.scope.weight *= 5;
        self.scope.pointers.push(p.clone());
        let body = if self.rng.chance(50) {
            self.some(1, depth + 1)
        } else {
            format!("acc += {p}->a; {p}->d = acc;")
        };
        format!("for (struct S *{p} = head; {p}; {p} = {p}->next) {{\n{body}\n}}")
    }

    /// A loop whose limit is read again in each iteration, while the body may change it.
    fn limit_in_memory(&mut self, depth: u32) -> String {
        let (v, a) = (self.fresh("i"), self.integer_array());
        let at = self.rng.below(a.len);
        let mask = if self.scope.weight > 20 { 3 } else { 15 };
        self.enter(&v, mask, mask / 2 + 1);
        let body = self.block(depth + 1);
        format!("for (u32 {v} = 0; {v} < ((u64){}[{at}] & {mask}u); {v}++) {{\n{body}\n}}", a.name)
    }

    /// A loop over arrays and nothing else, as vectorizers like it.
    pub(crate) fn kernel(&mut self) -> String {
        let (a, b, v) = (self.array(), self.array(), self.fresh("i"));
        let n = a.len.min(b.len).min(64);
        if self.scope.weight * n > 4 * MOST_WEIGHT {
            return self.store();
        }
        let limit = if self.rng.chance(60) {
            n.to_string()
        } else {
            format!("(u32)({}) & {}", self.expr(2), n - 1)
        };
        let load = |i: &str| {
            if b.is_float() {
                format!("(s64){}[{i}]", b.name)
            } else {
                format!("(u64){}[{i}]", b.name)
            }
        };
        let (here, there) = (load(&v), load(&format!("{} - {v}", n - 1)));
        let value = match self.rng.below(6) {
            0 => format!("{here} + 1"),
            1 => format!("({here} ^ {v})"),
            2 => there,
            3 => format!("{here} * 3 + {there}"),
            4 => format!("(u64)vol + {v}"),
            _ => load(&format!("({v} * 3) & {}", n - 1)),
        };
        let at = match self.rng.below(3) {
            0 => format!("{} - {v}", n - 1),
            _ => v.clone(),
        };
        let store = if a.is_float() {
            format!("{}[{at}] = ({})(({value}) & 255);", a.name, a.ty)
        } else {
            format!("{}[{at}] = ({})({value});", a.name, a.ty)
        };
        let body = match self.rng.below(5) {
            0 => format!("if ({here} & 1) {store}"),
            1 => format!("acc += (u64)({value});"),
            2 if !a.is_float() => {
                let g = format!("{}[(u64)({value}) & {}]", a.name, a.len - 1);
                format!("{g} = ({})({g} + 1);", a.ty)
            }
            _ => store,
        };
        let ty = self.rng.word(&["u32", "int", "u64", "u16"]);
        format!(
            "{{ u32 limit = {limit}; for ({ty} {v} = 0; (u32){v} < limit; {v}++) {{ {body} }} }}"
        )
    }
}
