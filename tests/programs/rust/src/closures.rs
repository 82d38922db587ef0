//! Closures as values, boxed and by reference.
// MODE: golden

fn twice(f: &dyn Fn(u64) -> u64, x: u64) -> u64 {
    f(f(x))
}

fn adder(n: u64) -> impl Fn(u64) -> u64 {
    move |x| x + n
}

pub(crate) fn main() {
    let mut seen = Vec::new();
    let mut note = |x: u64| seen.push(x);
    (0..5).for_each(&mut note);
    let all: Vec<Box<dyn Fn(u64) -> u64>> = vec![Box::new(adder(3)), Box::new(|x| x * x)];
    let results: Vec<u64> = all.iter().map(|f| twice(f, 4)).collect();
    println!("{seen:?} {results:?}");
}
