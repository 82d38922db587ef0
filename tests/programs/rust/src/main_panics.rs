//! A panic of the first thread ends the program with the code 101.
// MODE: golden
// EXPECT: exit 101

pub(crate) fn main() {
    println!("begins");
    let values = std::hint::black_box(vec![1, 2]);
    println!("{}", values[std::hint::black_box(7)]);
}
