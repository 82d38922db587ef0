//! Two tasks of a join write the same word.
// MODE: golden

struct Shared(std::cell::UnsafeCell<u64>);

unsafe impl Sync for Shared {}

#[inline(never)]
fn racy_rayon(shared: &Shared, value: u64) {
    unsafe { *shared.0.get() = value };
}

pub(crate) fn main() {
    let shared = Shared(std::cell::UnsafeCell::new(0));
    rayon::join(|| racy_rayon(&shared, 1), || racy_rayon(&shared, 2));
    assert!(unsafe { *shared.0.get() } > 0);
    println!("done");
}
