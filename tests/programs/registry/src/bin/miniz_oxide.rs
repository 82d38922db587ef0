//! A compressor of another kind: threads send what they have packed through a channel.

use std::sync::mpsc;
use std::thread;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec;

fn main() {
    let text: String = (0..5000u32)
        .map(|i| format!("{} is {}\n", i, i * 31 % 1009))
        .collect();
    let (to, from) = mpsc::channel();
    for level in [1, 4, 6, 9] {
        let (to, text) = (to.clone(), text.clone());
        thread::spawn(move || {
            to.send((level, compress_to_vec(text.as_bytes(), level)))
                .unwrap()
        });
    }
    drop(to);
    let mut packed: Vec<_> = from.iter().collect();
    packed.sort();
    for (level, bytes) in packed {
        assert_eq!(decompress_to_vec(&bytes).unwrap(), text.as_bytes());
        println!("level {level}: {} bytes become {}", text.len(), bytes.len());
    }
}
