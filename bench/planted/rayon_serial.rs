//! A sequential pass between parallel ones.
use rayon::prelude::*;
@PARTS@
fn $renumber(cells: &mut [u64]) {
#ifdef MENDED
    cells.par_iter_mut().for_each(|cell| *cell = $work(*cell, ~40000));
#else
    for cell in cells {
        *cell = $work(*cell, ~40000); // PLANTED: serial
    }
#endif
}
fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(threads()).build_global().unwrap();
    let mut $cells: Vec<u64> = (0..256).collect();
    for _ in 0..10 {
        $cells.par_iter_mut().for_each(|cell| *cell = $work(*cell, ~30000));
        $renumber(&mut $cells); // PLANTED: serial
    }
    println!("{}", $cells[0]);
}
