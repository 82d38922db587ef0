//! rayon adds numbers in halves of halves, down to single numbers.

fn sum(numbers: &[u64]) -> u64 {
    if let [number] = numbers {
        return *number;
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (left, right) = rayon::join(|| sum(left), || sum(right)); // LOSS: scheduling
    left + right
}

fn main() {
    let numbers: Vec<u64> = (0..20_000).collect();
    println!("{}", sum(&numbers));
}
