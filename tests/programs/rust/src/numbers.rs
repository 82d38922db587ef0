//! Numbers of all sizes, and loops that the compiler makes vectors of.
// MODE: golden

pub(crate) fn main() {
    let a: Vec<f32> = (0..1000).map(|x| x as f32 * 0.5).collect();
    let dot: f32 = a.iter().zip(a.iter().rev()).map(|(x, y)| x * y).fold(0.0, |s, x| s + x);
    let bytes: Vec<u8> = (0..=255).collect();
    let xor = bytes.iter().fold(0u8, |s, b| s.rotate_left(1) ^ b);
    let wide = bytes.iter().fold(1u128, |s, b| s.wrapping_mul(31).wrapping_add(u128::from(*b)));
    let mut moved = bytes.clone();
    moved.copy_within(10..200, 3);
    let sum: i64 = moved.iter().map(|b| i64::from(*b as i8)).sum();
    println!("{dot} {xor} {wide} {sum} {}", i32::MAX.wrapping_add(std::hint::black_box(1)));
}
