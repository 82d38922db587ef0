//! Loops: every loop ends, whatever its body does to memory.

use super::Generator;
use super::scope::{Counter, power_of_two};

/// About how often the body of nested loops may run in one call of a function.
const MOST_WEIGHT: u64 = 400;

impl Generator<'_> {
    pub(crate) fn any_loop(&mut self) -> String {
        if self.scope.loops >= 4 || self.scope.weight * 3 > MOST_WEIGHT {
            return self.rule("store");
        }
        self.scoped(|g| {
            g.scope.loops += 1;
            g.scope.breakable = true;
            format!("{{ {} }}", g.looped())
        })
    }

    fn looped(&mut self) -> String {
        let kind = self.rule("loops");
        let room = MOST_WEIGHT / self.scope.weight.max(1);
        // What is drawn before the counter is there does not name it.
        let (limit, most) = self.trips(room);
        let (start, v, w) = (self.expr(1), self.fresh("v"), self.fresh("w"));
        let known = [("$v", v.clone()), ("@limit", limit), ("@most", most.to_string())];
        match kind.as_str() {
            "counter" => self.enter(&v, most, most),
            "steps" => self.enter(&v, most * 5, most),
            "limits" => self.enter(&v, 7, 4),
            "nest" => {
                let most = if room >= 64 { *self.rng.pick(&[4, 8, 15]) } else { 3 };
                self.enter(&v, most - 1, most);
                let before = if self.rng.chance(30) { self.rule("store") } else { String::new() };
                self.enter(&w, most - 1, most);
                let most = ("@most", most.to_string());
                return self.rule_with([("$v", v), ("$w", w), ("@before", before), most], &kind);
            }
            "walk" => {
                let array = self.integer_array();
                let most = array.len.min(room.max(2)).min(32);
                self.scope.weight *= most;
                let (ty, most) = (array.ty.to_owned(), most.to_string());
                let known = [("$v", v), ("@array", array.name), ("@ty", ty), ("@most", most)];
                return self.rule_with(known, &kind);
            }
            "list" => {
                self.scope.weight *= 5;
                self.scope.pointers.push(v);
            }
            "data" => {
                self.scope.wide.push(v.clone());
                self.count(&v, 8);
                return self.rule_with([("$v", v), ("@start", start)], &kind);
            }
            _ => {
                self.scope.wide.push(v.clone());
                self.count(&v, most);
            }
        }
        self.rule_with(known, &kind)
    }

    /// A trip count: its text and its largest value.
    fn trips(&mut self, room: u64) -> (String, u64) {
        let all = [2, 3, 5, 8, 9, 15, 16, 33, 100];
        let most = self.rng.one(all.into_iter().filter(|m| *m <= room.max(2))).unwrap_or(2);
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

    fn count(&mut self, name: &str, trips: u64) {
        self.scope.ints.push(name.to_owned());
        self.scope.weight *= trips.max(1);
    }

    /// A loop over arrays and nothing else, as vectorizers like it.
    pub(crate) fn kernel(&mut self) -> String {
        let (a, b) = (self.array(), self.array());
        let n = a.len.min(b.len).min(64);
        if self.scope.weight * n > 4 * MOST_WEIGHT {
            return self.rule("store");
        }
        let limit = if self.rng.chance(60) {
            n.to_string()
        } else {
            format!("(u32)({}) & {}", self.expr(2), n - 1)
        };
        let mask = if a.is_float() { " & 255" } else { "" };
        let whole = if b.is_float() { "(s64)" } else { "(u64)" };
        let known = [
            ("@array", a.name),
            ("@ty", a.ty.to_owned()),
            ("@mask", mask.to_owned()),
            ("@end", (a.len - 1).to_string()),
            ("@from", whole.to_owned() + &b.name),
            ("@last", (n - 1).to_string()),
            ("@limit", limit),
        ];
        self.rule_with(known, "kernels")
    }
}
