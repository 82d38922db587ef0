//! What a statement may name: arrays, integers, loop counters.

/// C types of array elements and variables, with the typedefs of the prelude.
pub(crate) const INTEGERS: [&str; 8] = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];

/// An array whose length is a power of two.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) len: u64,
    pub(crate) ty: &'static str,
}

impl Array {
    pub(crate) fn is_float(&self) -> bool {
        matches!(self.ty, "float" | "double")
    }

    pub(crate) fn bytes(&self) -> u64 {
        let each = match self.ty {
            "u8" | "s8" => 1,
            "u16" | "s16" => 2,
            "u32" | "s32" | "float" => 4,
            _ => 8,
        };
        self.len * each
    }
}

/// The largest power of two that is not above `most`; 1 for 0.
pub(crate) fn power_of_two(most: u64) -> u64 {
    1 << most.max(1).ilog2()
}

/// A loop counter with values from 0 to `most`.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    pub(crate) name: String,
    pub(crate) most: u64,
}

/// The names in scope at a place in a function.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// Integers to read.
    pub(crate) ints: Vec<String>,
    /// Integer variables to write: name and type.
    pub(crate) vars: Vec<(String, &'static str)>,
    /// Small counters.
    pub(crate) counters: Vec<Counter>,
    /// Counters that wrap around or start anywhere: to be masked.
    pub(crate) wide: Vec<String>,
    /// Doubles with a bounded value, to write.
    pub(crate) doubles: Vec<String>,
    pub(crate) arrays: Vec<Array>,
    /// Pointers to `struct S` that are not null.
    pub(crate) pointers: Vec<String>,
    /// The number of enclosing loops.
    pub(crate) loops: u32,
    /// About how often the statement runs in one call.
    pub(crate) weight: u64,
    /// `break` and `continue` leave the innermost loop here, and that loop still ends.
    pub(crate) breakable: bool,
    /// In a coroutine: how it gives control away.
    pub(crate) suspend: Option<Suspend>,
    /// Whether this is the handler of an exception, where a coroutine must not suspend itself.
    pub(crate) catching: bool,
}

/// How a coroutine gives control away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspend {
    Yield,
    Await,
}
