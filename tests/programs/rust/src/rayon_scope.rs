//! Tasks of scopes, which generate others, and share a mutex.
// MODE: golden
// COUNT: task_create 43
// COUNT: taskgroup_end 3

use std::sync::Mutex;

pub(crate) fn main() {
    let total = Mutex::new(0u64);
    rayon::scope(|scope| {
        for i in 0..20 {
            let total = &total;
            scope.spawn(move |scope| {
                *total.lock().unwrap() += i;
                scope.spawn(move |_| *total.lock().unwrap() += 100 * i);
            });
        }
    });
    let (mut one, mut other) = (0, 0);
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| one = 1);
        rayon::scope_fifo(|_| other = 2);
    });
    println!("{} {one} {other}", total.into_inner().unwrap());
}
