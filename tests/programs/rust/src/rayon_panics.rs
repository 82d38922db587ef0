//! Panics in tasks unwind to who waits for them.
// MODE: golden

use std::panic::catch_unwind;

pub(crate) fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let ends = [
        catch_unwind(|| rayon::join(|| 1, || -> u32 { panic!("of the second") }).0),
        catch_unwind(|| rayon::join(|| -> u32 { panic!("of the first") }, || 2).1),
        catch_unwind(|| {
            rayon::scope(|scope| scope.spawn(|_| panic!("of a scope")));
            3
        }),
        catch_unwind(|| rayon::join(|| 4, || 5).0),
    ];
    let values: Vec<_> = ends.iter().map(|end| end.as_ref().ok()).collect();
    println!("{values:?}");
}
