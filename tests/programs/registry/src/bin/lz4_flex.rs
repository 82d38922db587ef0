//! A compressor: four threads compress and unpack a part of a text each.

use std::thread;

fn main() {
    let lines: Vec<String> = (0..6000u32)
        .map(|i| format!("{} line {}\n", i * i % 97, i / 7))
        .collect();
    let text = lines.concat();
    let parts: Vec<&[u8]> = text.as_bytes().chunks(text.len().div_ceil(4)).collect();
    let sizes = thread::scope(|scope| {
        let threads: Vec<_> = parts
            .iter()
            .map(|part| scope.spawn(|| size(part)))
            .collect();
        threads
            .into_iter()
            .map(|t| t.join().unwrap())
            .collect::<Vec<_>>()
    });
    println!("{} bytes become {sizes:?}", text.len());
}

fn size(part: &[u8]) -> usize {
    let packed = lz4_flex::compress_prepend_size(part);
    assert_eq!(lz4_flex::decompress_size_prepended(&packed).unwrap(), part);
    packed.len()
}
