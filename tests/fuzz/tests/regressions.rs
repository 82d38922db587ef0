//! The seeds are sound, damage at random is read or refused, and what once broke a reader does so
//! no more.

use std::path::Path;

use contech_fuzz::{Target, mutate};
use fastrand::Rng;

#[test]
fn the_seeds_are_sound_and_stay_so_when_they_are_opened_and_shut() {
    for target in Target::ALL {
        for seed in (target.seeds)() {
            assert!(target.read(&seed), "{}", target.name);
            for random in 0..200 {
                // Nothing is changed but the form, or pieces are left out, repeated or exchanged.
                let _ = target.read(&mutate(&target, &seed, random, &mut |_| {}));
            }
        }
    }
}

/// Changes bytes as a fuzzer does that does not know which code runs.
fn damage(random: &mut Rng, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return bytes.push(random.u8(..));
    }
    let at = random.usize(..bytes.len());
    let end = (at + random.usize(1..9)).min(bytes.len());
    match random.u32(..7) {
        0 => bytes[at] ^= 1 << random.u32(..8),
        1 => bytes[at] = random.u8(..),
        2 => bytes[at] = random.choice([0, 1, 0x7f, 0x80, 0xfe, 0xff]).unwrap_or(0),
        3 => bytes[at..end].fill(random.choice([0, 0xff]).unwrap_or(0)),
        4 => bytes.extend_from_within(at..end),
        5 => drop(bytes.drain(at..end)),
        _ => bytes.truncate(at),
    }
}

/// Reads damaged files of a kind, the same ones each time. A damaged file that can be read is
/// damaged further, until one cannot.
fn is_read_or_refused(target: &str, inputs: u32) {
    let target = Target::named(target).expect("a target");
    let seeds = (target.seeds)();
    let mut random = Rng::with_seed(1);
    let (mut file, mut sound) = (Vec::new(), 0);
    for _ in 0..inputs {
        if file.is_empty() {
            file = random.choice(&seeds).expect("a seed").clone();
        }
        let seed = random.u32(..);
        file = mutate(&target, &file, seed, &mut |bytes| damage(&mut random, bytes));
        if target.read(&file) {
            sound += 1;
        } else {
            file.clear();
        }
    }
    // Damage that nothing lets in would be refused by the first check of a reader.
    assert!(sound * 100 > inputs, "{}: {sound} could be read", target.name);
    assert!(sound < inputs - inputs / 20, "{}: {sound} could be read", target.name);
}

#[test]
fn traces_are_read_or_refused() {
    is_read_or_refused("trace", 30_000);
}

#[test]
fn whatever_the_trace_a_graph_that_is_written_is_sound() {
    is_read_or_refused("middle", 2_000);
}

#[test]
fn graphs_are_read_or_refused_and_what_verify_finds_sound_is_read() {
    is_read_or_refused("graph", 30_000);
}

#[test]
fn profiles_are_read_or_refused() {
    is_read_or_refused("profile", 40_000);
}

#[test]
fn what_once_failed_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for target in Target::ALL {
        let Ok(files) = std::fs::read_dir(folder.join(target.name)) else {
            continue;
        };
        for file in files {
            let file = file.unwrap().path();
            let text = std::fs::read_to_string(&file).unwrap();
            let digits: String = text
                .lines()
                .filter(|l| !l.starts_with('#'))
                .flat_map(str::split_whitespace)
                .collect();
            let bytes: Vec<u8> = (0..digits.len() / 2)
                .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
                .collect();
            println!("{}", file.display());
            let _ = target.read(&bytes);
        }
    }
}
