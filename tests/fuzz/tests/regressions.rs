//! The seeds are sound, and what once broke a reader does so no more.

use std::path::Path;

use contech_fuzz::{Target, mutate};

#[test]
fn the_seeds_are_sound_and_stay_so_when_they_are_opened_and_shut() {
    for target in Target::ALL {
        for seed in target.seeds() {
            assert!(target.read(&seed), "{}", target.name());
            for random in 0..200 {
                // Nothing is changed but the form, or pieces are left out, repeated or exchanged.
                let _ = target.read(&mutate(target, &seed, random, &mut |_| {}));
            }
        }
    }
}

#[test]
fn what_once_failed_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for target in Target::ALL {
        let Ok(files) = std::fs::read_dir(folder.join(target.name())) else {
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
