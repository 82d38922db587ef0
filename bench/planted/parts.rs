//! What programs take their time in (`work`), and what misleads (`lead`).
== work
fn threads() -> usize {
    std::env::args().nth(1).unwrap().parse().unwrap()
}
[[#[inline(never)]||#[inline]
]]
fn $work(mut x: u64, rounds: u64) -> u64 {
[[    for _ in 0..rounds {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        x ^= x >> 29;
    }
    x & 0xff||    let mut y = (x & 1023) as f64;
    for _ in 0..rounds {
        y = y * 0.5 + 1.5;
    }
    x &= 1;
    y as u64 + x||    let mut small = [x; 16];
    for i in 0..rounds as usize {
        x = x.wrapping_mul(31).wrapping_add(7);
        x ^= x >> 11;
        if i % 64 == 0 {
            small[(x >> 3) as usize & 15] ^= x;
        }
    }
    small[3] & 0xff]]
}
== lead
static BRIEF: std::sync::Mutex<u64> = std::sync::Mutex::new(0);
fn $lead(t: usize) {
    *BRIEF.lock().unwrap() += t as u64;
}
== lead
fn $lead(t: usize) {
    let text = format!("{t}-record");
    std::hint::black_box(&text);
}
== lead
static TICKS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
fn $lead(t: usize) {
    if t > 1000 {
        TICKS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    let mut cells = std::collections::BTreeMap::new();
    (0..8u64).for_each(|k| drop(cells.insert(k * 7 % 5, k)));
    std::hint::black_box(cells.len());
}
