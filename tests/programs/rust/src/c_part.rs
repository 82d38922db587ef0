//! A function in C that a build script compiled; the link names it as not instrumented.
// MODE: golden

unsafe extern "C" {
    fn sum(values: *const u64, n: u64) -> u64;
}

pub(crate) fn main() {
    let values: Vec<u64> = (0..100).collect();
    // SAFETY: the values are there.
    println!("{}", unsafe { sum(values.as_ptr(), values.len() as u64) });
}
