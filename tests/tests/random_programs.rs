//! The oracle over random programs: a quarter of 128 seeds, another one in another commit (2,000
//! seeds with `cargo test-all --matrix`), each compiled in the way whose turn it is, recorded in
//! both forms at once and compared, and run natively for the output.
//!
//! A failure names the seed and the command that shows it again and makes it smaller. Its program
//! and its traces stay in `target/tmp/contech/random`. Other seeds, each in its way or in one that
//! is asked for:
//!
//! ```text
//! CONTECH_SEEDS=10000..20000 cargo test --release -p contech-tests --test random_programs
//! CONTECH_SEEDS=17..18 CONTECH_WAY='-O3 lagging' CONTECH_MINIMISE=1 cargo test --release -p contech-tests --test random_programs
//! ```

use std::collections::BTreeSet;
use std::env;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use contech_tests::matrix;
use contech_tests::random::minimise::minimise;
use contech_tests::random::way::Way;
use contech_tests::random::{Source, check, generate};
use contech_tests::scratch::Scratch;
use contech_tests::verdict::{self, Tools};
use libtest_mimic::Trial;

/// Seeds of which a commit takes a quarter, seeds of the whole matrix, and seeds of one trial.
const SEEDS: u64 = 128;
const MATRIX_SEEDS: u64 = 2000;
const PART: u64 = 16;

const ASKED: &str = "CONTECH_SEEDS";
const SMALLER: &str = "CONTECH_MINIMISE";

fn main() {
    let arguments = verdict::arguments();
    let mut trials = Vec::new();
    let asked = env::var(ASKED).ok();
    let (keeps, shares) = if asked.is_none() { (true, 4) } else { (false, 1) };
    let parts = parts(asked.as_deref());
    for seeds in matrix::share("seeds", &parts, shares).into_iter().cloned() {
        let name = format!("seeds_{}_to_{}", seeds.start, seeds.end - 1);
        trials.push(trial(name, move |dir| all(seeds, keeps, dir)));
    }
    trials.push(verdict::always("a_seed_gives_the_same_program_again".to_owned(), same));
    let name = "a_program_that_clang_itself_cannot_compile_is_counted".to_owned();
    trials.push(trial(name, crashing));
    libtest_mimic::run(&arguments, trials).exit();
}

/// The seeds of each trial.
fn parts(asked: Option<&str>) -> Vec<Range<u64>> {
    let range = |text: &str| {
        let (from, to) = text.split_once("..")?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    let (from, to) = match asked {
        Some(asked) => range(asked).unwrap_or_else(|| panic!("{ASKED}={asked} is not FROM..TO")),
        None => (0, if matrix::whole() { MATRIX_SEEDS } else { SEEDS }),
    };
    let count = to.saturating_sub(from).div_ceil(PART);
    let starts = (0..count).map(|n| from + n * PART);
    starts.map(|start| start..(start + PART).min(to)).collect()
}

/// A trial of what this executable generates.
fn trial(name: String, work: impl FnOnce(&Path) -> Result<()> + Send + 'static) -> Trial {
    verdict::trial(name.clone(), Tools::All, &(), move || {
        let scratch = Scratch::new(&format!("random/{name}"))?;
        work(scratch.dir())?;
        scratch.done()
    })
}

/// Checks every seed, and names all that fail.
fn all(seeds: Range<u64>, keeps: bool, dir: &Path) -> Result<()> {
    let mut failures = Vec::new();
    let mut uncompiled = Vec::new();
    for seed in seeds {
        let (source, way) = (generate(seed, &BTreeSet::new()), Way::asked(seed));
        let kept = keeps.then(|| format!("random-{seed}"));
        match check::check(&source, kept.as_deref(), &way, dir) {
            Ok(true) => {}
            Ok(false) => uncompiled.push(seed),
            Err(error) => {
                failures.push(format!(
                    "seed {seed}: {error:#}\nagain, and smaller: {ASKED}={seed}..{} {way} {SMALLER}=1 cargo test \
                     --release -p contech-tests --test random_programs",
                    seed + 1
                ));
                if env::var_os(SMALLER).is_some() {
                    let smaller = smaller(seed, &source, &way, dir);
                    failures.push(smaller.unwrap_or_else(|error| format!("{error:#}")));
                }
            }
        }
    }
    // Such programs are rare. Many of them would be a test of nothing.
    if uncompiled.len() > 2 {
        failures.push(format!("clang itself cannot compile {uncompiled:?}"));
    }
    ensure!(failures.is_empty(), "{}", failures.join("\n\n"));
    Ok(())
}

/// The smallest program found that fails in the same way as the whole one: by a mismatch, or
/// otherwise.
fn smaller(seed: u64, whole: &Source, way: &Way, dir: &Path) -> Result<String> {
    let outcome = |dropped: &BTreeSet<u32>| {
        let error = check::check(&generate(seed, dropped), None, way, dir).err()?;
        let error = format!("{error:#}");
        let kinds =
            [" mismatches in ", "records are missing", "something else than", "--contech-check"];
        Some(kinds.into_iter().position(|kind| error.contains(kind)))
    };
    let wanted = outcome(&BTreeSet::new()).context("it does not fail twice")?;
    let dropped = minimise(whole.statements, |dropped| outcome(dropped) == Some(wanted));
    let left = whole.statements as usize - dropped.len();
    let mut text = format!("{left} of {} statements left", whole.statements);
    let smallest = generate(seed, &dropped);
    check::write(&smallest, dir)?;
    for part in smallest.units.iter().chain(&smallest.plugin) {
        text += &format!("\n// in {}\n{part}", dir.display());
    }
    Ok(text)
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
    ensure!(!check("defined __OPTIMIZE__")?, "clang compiled what it crashes on");
    let crash = check("defined __OPTIMIZE__ && defined __CONTECH__");
    ensure!(crash.is_err(), "a crash with the plugin alone is no failure");
    Ok(())
}
