//! The fuzzer: libFuzzer's program. The first folder or file it is given says by a name in its path
//! what is read: `contech-fuzz FOLDER/graph -max_total_time=60`.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use contech_fuzz::{Target, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fn target() -> &'static Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let given = std::env::args().skip(1).find(|word| !word.starts_with('-'));
        let given = given.unwrap_or_default();
        let mut names = Path::new(&given).iter().rev().filter_map(|n| n.to_str());
        names.find_map(Target::named).unwrap_or_else(|| {
            let all = Target::ALL.map(|target| target.name).join(", ");
            panic!("usage: contech-fuzz FOLDER/TARGET [OPTION OF libFuzzer]...; targets: {all}")
        })
    })
}

fuzz_target!(init: { target(); }, |bytes: &[u8]| {
    let _ = target().read(bytes);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut bytes = |piece: &mut Vec<u8>| {
        let length = piece.len();
        let room = (2 * length + 64).min(max_size.max(length));
        piece.resize(room, 0);
        let mutated = fuzzer_mutate(piece, length, room);
        piece.truncate(mutated);
    };
    let mutated = mutate(target(), &data[..size], seed, &mut bytes);
    let length = mutated.len().min(max_size);
    data[..length].copy_from_slice(&mutated[..length]);
    length
});
