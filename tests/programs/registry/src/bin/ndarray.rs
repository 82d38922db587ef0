//! Conway's game of life on arrays, whose cells rayon computes in parallel.

use ndarray::{Array2, Zip, s};

fn main() {
    let side = 128;
    let mut cells = Array2::from_shape_fn((side + 2, side + 2), |(y, x)| {
        u8::from(y > 0 && x > 0 && y <= side && x <= side && (y * 7 + x * 13 + y * x) % 5 < 2)
    });
    for generation in 1..=12 {
        let mut next = Array2::zeros(cells.raw_dim());
        Zip::from(next.slice_mut(s![1..=side, 1..=side]))
            .and(cells.windows((3, 3)))
            .par_for_each(|next, around| {
                let living = around.iter().sum::<u8>() - around[[1, 1]];
                *next = u8::from(living == 3 || living == 2 && around[[1, 1]] == 1);
            });
        cells = next;
        println!(
            "{generation}: {}",
            cells.iter().map(|&c| u32::from(c)).sum::<u32>()
        );
    }
}
