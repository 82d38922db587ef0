//! An image coder: threads write pictures and read them again.

use std::io::Cursor;
use std::thread;

fn main() {
    let threads: Vec<_> = (1..4u32)
        .map(|seed| thread::spawn(move || picture(seed)))
        .collect();
    for thread in threads {
        println!("{}", thread.join().unwrap());
    }
}

fn picture(seed: u32) -> String {
    let (width, height) = (120, 80);
    let pixel = |i: u32| [i % width, i / width * 2, i * seed / 64].map(|c| c.to_le_bytes()[0]);
    let pixels: Vec<u8> = (0..width * height).flat_map(pixel).collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    let mut reader = png::Decoder::new(Cursor::new(&file)).read_info().unwrap();
    let mut read = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut read).unwrap();
    assert_eq!(read, pixels);
    format!("{} x {}, {} bytes", frame.width, frame.height, file.len())
}
