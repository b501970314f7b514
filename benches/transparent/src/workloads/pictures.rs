//! Decodes a PNG image: a few large buffers, and arithmetic.

use super::text::Numbers;
use std::io::Cursor;

#[allow(clippy::cast_possible_truncation)]
pub(super) fn pictures(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(5);
    let mut pixels = Vec::with_capacity(size * size * 3);
    for y in 0..size {
        for x in 0..size {
            let noise = numbers.below(16);
            pixels.extend([x + noise, y + noise, x / 2 + y / 2].map(|value| value as u8));
        }
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size as u32, size as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("memory takes all");
    writer.write_image_data(&pixels).expect("memory takes all");
    writer.finish().expect("memory takes all");
    let sum: u64 = pixels.iter().map(|&value| u64::from(value)).sum();
    assert_eq!(once(&file), sum);
    move || once(&file)
}

/// The sum of all pixels.
#[inline(never)]
fn once(file: &[u8]) -> u64 {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("it is an image");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it fits into memory")];
    reader.next_frame(&mut pixels).expect("it is whole");
    pixels.iter().map(|&value| u64::from(value)).sum()
}
