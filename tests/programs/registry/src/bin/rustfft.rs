//! Fourier transforms: threads share the plan of one.

use std::sync::Arc;
use std::thread;

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

fn main() {
    let n = 1 << 12;
    let plan = FftPlanner::<f64>::new().plan_fft_forward(n);
    let threads: Vec<_> = (1..4u32)
        .map(|wave| {
            let plan = Arc::clone(&plan);
            thread::spawn(move || {
                let turn = std::f64::consts::TAU * f64::from(wave * 100) / n as f64;
                let mut values: Vec<_> = (0..n)
                    .map(|i| Complex::from_polar(1.0, turn * i as f64))
                    .collect();
                plan.process(&mut values);
                let largest = values
                    .iter()
                    .enumerate()
                    .max_by(|a, b| a.1.norm().total_cmp(&b.1.norm()));
                largest.map(|(at, value)| (at, value.norm().round()))
            })
        })
        .collect();
    for thread in threads {
        println!("{:?}", thread.join().unwrap().unwrap());
    }
}
