//! A merge sort by `rayon::join` down to single numbers, of numbers in order, so that every merge takes the same steps.
// MODE: golden
// COUNT: task_create 64
// COUNT: task_join 64

unsafe extern "C" {
    fn _exit(code: i32) -> !;
}

fn sort(values: &mut [u64], room: &mut [u64]) {
    let middle = values.len() / 2;
    if middle == 0 {
        return;
    }
    let (low, high) = values.split_at_mut(middle);
    let (left, right) = room.split_at_mut(middle);
    rayon::join(|| sort(low, left), || sort(high, right));
    let (mut i, mut j) = (0, 0);
    for place in room.iter_mut() {
        let first = j == high.len() || i < low.len() && low[i] <= high[j];
        *place = if first { low[i] } else { high[j] };
        (i, j) = (i + usize::from(first), j + usize::from(!first));
    }
    for (value, place) in values.iter_mut().zip(room) {
        *value = *place;
    }
}

pub(crate) fn main() {
    let halvings: u32 = std::env::args().nth(2).map_or(6, |n| n.parse().unwrap());
    let mut values: Vec<u64> = (0..1 << halvings).collect();
    let mut room = values.clone();
    sort(&mut values, &mut room);
    assert!(values.is_sorted());
    println!("done");
    // When main ends, std searches its list of threads, of which there may be more or fewer.
    unsafe { _exit(0) }
}
