//! The oracle over random programs: a quarter of 128 seeds, another one in another commit (2,000
//! seeds with `cargo test-all --matrix`), each compiled in the way whose turn it is, recorded in
//! both forms at once and compared, and run natively for the output.
//!
//! A failure names the seed and the command that shows it again, alone or smaller.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use contech_tests::matrix;
use contech_tests::random::way::Way;
use contech_tests::random::{Source, check, generate};
use contech_tests::scratch::Scratch;
use contech_tests::verdict::{self, Tools};
use libtest_mimic::Trial;

/// Seeds of which a commit takes a quarter, seeds of the whole matrix, and seeds of one trial.
const SEEDS: u64 = 128;
const MATRIX_SEEDS: u64 = 2000;
const PART: u64 = 16;

fn main() {
    let arguments = verdict::arguments();
    let mut trials = Vec::new();
    let seeds = if matrix::whole() { MATRIX_SEEDS } else { SEEDS };
    let parts: Vec<u64> = (0..seeds / PART).collect();
    for first in matrix::share("seeds", &parts, 4).into_iter().map(|n| n * PART) {
        let seeds: Vec<(u64, Way)> = (first..first + PART).map(|s| (s, Way::of_seed(s))).collect();
        let name = format!("seeds_{first}_to_{}", first + PART - 1);
        trials.push(trial(name, move |dir| all(&seeds, dir)));
    }
    trials.push(verdict::always("a_seed_gives_the_same_program_again".to_owned(), same));
    let name = "a_program_that_clang_itself_cannot_compile_is_counted".to_owned();
    trials.push(trial(name, crashing));
    libtest_mimic::run(&arguments, trials).exit();
}

/// A trial of what this executable generates.
fn trial(name: String, work: impl FnOnce(&Path) -> Result<()> + Send + 'static) -> Trial {
    verdict::trial(name.clone(), Tools::All, &(), move || {
        let scratch = Scratch::new(&format!("random/{name}"))?;
        work(scratch.dir())?;
        scratch.done();
        Ok(())
    })
}

/// Checks every seed, and names all that fail.
fn all(seeds: &[(u64, Way)], dir: &Path) -> Result<()> {
    let mut failures = Vec::new();
    let mut uncompiled = Vec::new();
    for (seed, way) in seeds {
        let source = generate(*seed, &BTreeSet::new());
        match check::check(&source, Some(&format!("random-{seed}")), way, dir) {
            Ok(done) if done.uncompiled > 0 => uncompiled.push(seed),
            Ok(_) => {}
            Err(error) => failures.push(format!(
                "seed {seed}, {way}: {error:#}\nagain, and smaller: cargo run --release -p contech-tests --bin \
                 random-programs -- --seeds {seed}..{} {way} --minimise",
                seed + 1
            )),
        }
    }
    // Such programs are rare. Many of them would be a test of nothing.
    if uncompiled.len() > 2 {
        failures.push(format!("clang itself cannot compile {uncompiled:?}"));
    }
    if !failures.is_empty() {
        bail!("{}", failures.join("\n\n"));
    }
    Ok(())
}

fn same() -> Result<()> {
    for seed in [0, 1, 7, 1234] {
        let nothing = BTreeSet::new();
        let (a, b) = (generate(seed, &nothing), generate(seed, &nothing));
        // Leaving a statement out changes nothing before it.
        let less = generate(seed, &BTreeSet::from([a.statements - 1]));
        if a.units != b.units || less.statements != a.statements || less.units == a.units {
            bail!("seed {seed} gives another program");
        }
    }
    Ok(())
}

/// clang crashes at every level but -O0: on one program with and without the plugin, on the other
/// one only with it.
fn crashing(dir: &Path) -> Result<()> {
    let check = |when: &str| {
        let crash = "#pragma clang __debug crash\n#endif\nint main(void) { return 0; }\n";
        let source = Source { units: vec![format!("#if {when}\n{crash}")], ..Source::default() };
        check::check(&source, None, &Way::of_seed(1), dir)
    };
    let done = check("defined __OPTIMIZE__")?;
    if (done.programs, done.uncompiled) != (0, 1) {
        bail!("{done:?}");
    }
    match check("defined __OPTIMIZE__ && defined __CONTECH__") {
        Ok(done) => bail!("a crash with the plugin alone is no failure: {done:?}"),
        Err(_) => Ok(()),
    }
}
