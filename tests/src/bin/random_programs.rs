//! Random programs under `--contech-check`, by hand: longer campaigns than the test's, one program
//! again, or a smaller program that still fails.
//!
//! ```text
//! cargo run --release -p contech-tests --bin random-programs -- --seeds 10000..20000
//! cargo run --release -p contech-tests --bin random-programs -- --seeds 17..18 --level '-O3' --minimise
//! ```

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, bail};
use contech_tests::process::exit;
use contech_tests::random::{self, check, minimise, way::Way};
use contech_tests::scratch::Scratch;

const USAGE: &str = "usage: random-programs [--seeds FROM..TO] [--level 'FLAGS'] [--lagging] [--jobs N] [--minimise] [--print]";

struct Arguments {
    seeds: std::ops::Range<u64>,
    level: Option<String>,
    lagging: bool,
    jobs: usize,
    minimise: bool,
    print: bool,
}

fn main() -> ExitCode {
    exit(arguments().and_then(|asked| campaign(&asked)).map(|failed| failed == 0))
}

fn arguments() -> Result<Arguments> {
    let mut parsed = Arguments {
        seeds: 0..1000,
        level: None,
        lagging: false,
        jobs: thread::available_parallelism().map_or(2, usize::from),
        minimise: false,
        print: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--lagging" => parsed.lagging = true,
            "--minimise" => parsed.minimise = true,
            "--print" => parsed.print = true,
            "--seeds" | "--level" | "--jobs" => {
                let value = words.next().context(USAGE)?;
                match word.as_str() {
                    "--seeds" => {
                        let (from, to) = value.split_once("..").context(USAGE)?;
                        parsed.seeds = from.parse()?..to.parse()?;
                    }
                    "--level" => parsed.level = Some(value),
                    _ => parsed.jobs = value.parse()?,
                }
            }
            other => bail!("unknown argument {other}\n{USAGE}"),
        }
    }
    Ok(parsed)
}

/// Runs all seeds; returns how many failed.
fn campaign(arguments: &Arguments) -> Result<u64> {
    if arguments.print {
        for seed in arguments.seeds.clone() {
            for (i, text) in random::generate(seed, &BTreeSet::new()).units.iter().enumerate() {
                println!("// seed {seed}, {}, unit {i}\n{text}", Way::of_seed(seed));
            }
        }
        return Ok(0);
    }
    let (next, failed) = (AtomicU64::new(arguments.seeds.start), AtomicU64::new(0));
    let [programs, blocks, uncompiled] = [const { AtomicU64::new(0) }; 3];
    let scratch = Scratch::new(&format!("random-{}", std::process::id()))?;
    let work = |job: usize| -> Result<()> {
        let dir = scratch.subdir(format!("job{job}"))?;
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= arguments.seeds.end {
                return Ok(());
            }
            let mut way = Way::of_seed(seed);
            if let Some(level) = &arguments.level {
                way.level.clone_from(level);
                way.lagging = arguments.lagging;
            }
            match check::check(&random::generate(seed, &BTreeSet::new()), None, &way, &dir) {
                Ok(done) => {
                    programs.fetch_add(done.programs, Ordering::Relaxed);
                    blocks.fetch_add(done.blocks, Ordering::Relaxed);
                    uncompiled.fetch_add(done.uncompiled, Ordering::Relaxed);
                }
                Err(error) => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    println!("seed {seed}, {way}: {error:#}");
                    if arguments.minimise {
                        smaller(seed, &way, &dir)?;
                    }
                }
            }
        }
    };
    thread::scope(|scope| {
        let work = &work;
        let jobs: Vec<_> = (0..arguments.jobs).map(|j| scope.spawn(move || work(j))).collect();
        jobs.into_iter()
            .try_for_each(|j| j.join().map_err(|_| anyhow::anyhow!("a job panicked"))?)
    })?;
    let failed = failed.into_inner();
    println!(
        "{} programs, {} blocks compared, {failed} failed, {} could not be compiled by clang itself",
        programs.into_inner(),
        blocks.into_inner(),
        uncompiled.into_inner()
    );
    scratch.done();
    Ok(failed)
}

/// Prints the smallest program found that fails in the same way as the whole one: by a mismatch, or
/// otherwise.
fn smaller(seed: u64, way: &Way, dir: &Path) -> Result<()> {
    let outcome = |dropped: &BTreeSet<u32>| {
        let source = random::generate(seed, dropped);
        check::check(&source, None, way, dir).err().map(|e| kind(&format!("{e:#}")))
    };
    let wanted = outcome(&BTreeSet::new()).context("it does not fail twice")?;
    let statements = random::generate(seed, &BTreeSet::new()).statements;
    let dropped = minimise::minimise(statements, |d| outcome(d).as_ref() == Some(&wanted));
    let source = random::generate(seed, &dropped);
    let files = check::write(&source, dir)?;
    println!("-- {} of {statements} statements left", statements as usize - dropped.len());
    for file in files {
        println!("// LEVEL: {way}\n{}", std::fs::read_to_string(file)?);
    }
    Ok(())
}

fn kind(error: &str) -> &'static str {
    if error.contains(" mismatches in ") {
        "mismatch"
    } else if error.contains("records are missing") {
        "missing"
    } else if error.contains("something else than the native") {
        "output"
    } else if error.contains("--contech-check") {
        "compiler"
    } else {
        "other"
    }
}
