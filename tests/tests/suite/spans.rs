//! The on-line work/span profile of OpenMP programs that run with one thread: iterations of loops, sections and tasks
//! are strands. Numbers are in operations, from the formulas of the programs in `programs/spans`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::matrix::ways;
use contech_tests::once::Once;
use contech_tests::outputs::Outputs;
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use serde_json::Value;

/// The optimisation levels, of which a commit takes one for each test.
const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];
/// Those for tests where the others would show no more.
const TWO: [&str; 2] = ["-O0", "-O2"];
/// The schedules, of which a commit takes one for each test and level.
const SCHEDULES: [&str; 6] = [
    "static",
    "dynamic,3",
    "static,1",
    "static,4",
    "dynamic",
    "guided",
];

/// A profile in operations.
struct Profile(Value);

/// Compiles a program and runs it with one thread.
fn profile(name: &str, options: &[&str]) -> Result<Profile> {
    profile_in(name, options, "ops")
}

fn profile_in(name: &str, options: &[&str], metric: &str) -> Result<Profile> {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("main");
    let words = format!("spans-{test}-{name}-{}", options.concat());
    let scratch = Scratch::new(&words.replace(['/', ',', '.'], "-"))?;
    let (mut options, arguments) = parted(options);
    if !name.starts_with("../cilk/") {
        options.push("-fopenmp");
    }
    let program = build(name, &options, "--contech-mode=workspan", scratch.dir())?;
    let file = scratch.join("profile.json");
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .env("OMP_THREAD_LIMIT", "1")
        .env("OMP_CANCELLATION", "true")
        .env("CONTECH_METRIC", metric)
        .env("CONTECH_PROFILE", &file);
    run(&mut command)?.ok()?;
    let text = std::fs::read_to_string(&file)?;
    scratch.done();
    Ok(Profile(serde_json::from_str(&text)?))
}

/// Options for the compiler, and arguments for the program, which begin with a digit.
fn parted<'a>(options: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    options.iter().partition(|option| option.starts_with('-'))
}

fn build(name: &str, options: &[&str], mode: &str, dir: &Path) -> Result<std::path::PathBuf> {
    let driver = match name.rsplit('.').next() {
        Some("cpp") => "contech-c++",
        Some("f90") => "contech-fc",
        _ => "contech-cc",
    };
    let program = dir.join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/spans");
    let mut compile = Command::new(Outputs::get().command(driver));
    compile.arg(mode).args(options);
    compile.arg(source.join(name)).arg("-o").arg(&program);
    run(&mut compile)?.ok()?;
    Ok(program)
}

impl Profile {
    fn number(&self, path: &str) -> u64 {
        self.0
            .pointer(path)
            .and_then(Value::as_u64)
            .unwrap_or(u64::MAX)
    }

    fn work(&self) -> u64 {
        self.number("/work")
    }

    fn span(&self) -> u64 {
        self.number("/span")
    }

    /// The sum of a number over the call sites of a kind that have this callee, or any callee if it is empty.
    fn sum(&self, kind: &str, callee: &str, path: &str) -> Result<u64> {
        let sites = self.0["sites"].as_array().context("sites")?;
        let fits = |site: &&Value| {
            let is = site["callee"].as_str().unwrap_or_default();
            site["kind"] == kind && (callee.is_empty() || is.trim_end_matches('_') == callee)
        };
        let numbers = sites.iter().filter(fits);
        Ok(numbers
            .map(|site| {
                site.pointer(path)
                    .and_then(Value::as_u64)
                    .unwrap_or(u64::MAX)
            })
            .sum())
    }

    /// Executions of `steps` on the span, and the operations of these.
    fn steps_on_span(&self) -> Result<(u64, u64)> {
        let of = |what| self.sum("call", "steps", &format!("/on_span/local/{what}"));
        Ok((of("count")?, of("work")?))
    }

    fn iterations(&self) -> Result<u64> {
        self.sum("loop", "", "/count")
    }
}

/// Operations of a call of `steps` with 10 steps, and of each further step.
fn steps(level: &str) -> Result<(u64, u64)> {
    static STEPS: Once<(u64, u64)> = Once::new();
    STEPS.get(level, || count_steps(level))
}

fn count_steps(level: &str) -> Result<(u64, u64)> {
    let of = |n: &str| -> Result<u64> {
        let one = profile("triangle.c", &[level, n])?;
        Ok(one.steps_on_span()?.1)
    };
    let ten = of("-DN=10")?;
    Ok((ten, of("-DN=11")? - ten))
}

#[test]
fn the_span_of_a_triangular_loop_is_that_of_its_last_iteration() -> Result<()> {
    for level in ways("triangle", &LEVELS) {
        let (ten, step) = steps(level)?;
        assert!(step > 0 && ten > 10 * step, "{level}: {ten}, {step}");
        for schedule in ways(&format!("schedules {level}"), &SCHEDULES) {
            let schedule = format!("-DSCHEDULE={schedule}");
            let of = |n: &str| profile("triangle.c", &[level, n, &schedule]);
            let (short, long) = (of("-DN=10")?, of("-DN=30")?);
            let said = format!("{level} {schedule}");
            // The last iteration counts, and so does what surrounds the loop whatever the number of iterations.
            assert_eq!(long.span() - short.span(), 20 * step, "{said}");
            assert_eq!(long.steps_on_span()?, (1, ten + 20 * step), "{said}");
            assert!(short.span() < ten + 70, "{said}: {}", short.span());
            assert_eq!(
                (short.iterations()?, long.iterations()?),
                (10, 30),
                "{said}"
            );
            // All iterations have 1 + 2 + ... + 30 steps, and each call begins with operations that belong to no
            // step.
            let all = long.sum("call", "steps", "/on_work/local/work")?;
            assert_eq!(all, 30 * (ten - 10 * step) + 465 * step, "{said}");
        }
    }
    Ok(())
}

#[test]
fn the_span_of_a_loop_that_calls_nothing_is_that_of_its_last_iteration() -> Result<()> {
    for level in ways("inline", &LEVELS) {
        for schedule in ways(&format!("schedules {level}"), &SCHEDULES) {
            let schedule = format!("-DSCHEDULE={schedule}");
            let of = |n: &str| profile("triangle_inline.c", &[level, n, &schedule]);
            let all = [of("-DN=10")?, of("-DN=11")?, of("-DN=31")?];
            let said = format!("{level} {schedule}");
            let step = all[1].span() - all[0].span();
            assert!(step > 0, "{said}");
            assert_eq!(all[2].span() - all[1].span(), 20 * step, "{said}");
            let of = |profile: &Profile, path: &str| profile.sum("loop", "", path);
            assert_eq!(of(&all[2], "/count")?, 31, "{said}");
            assert_eq!(of(&all[2], "/on_span/local/count")?, 1, "{said}");
            let longest = of(&all[2], "/on_span/local/work")?;
            assert!(
                longest >= 31 * step && all[2].span() < longest + 70,
                "{said}"
            );
        }
    }
    Ok(())
}

#[test]
fn the_work_is_that_of_a_recording() -> Result<()> {
    for (name, options) in [
        ("triangle.c", &["-DN=10", "-DSCHEDULE=dynamic,3"][..]),
        ("triangle_inline.c", &["-DN=10", "-DSCHEDULE=static,3"]),
        ("uniform.c", &["-DN=3", "-DM=5"]),
        ("vectors.c", &[]),
        ("sections.c", &[]),
        ("two_loops.c", &[]),
        ("ordered.c", &[]),
        ("left.cpp", &[]),
        ("lu.c", &[]),
        ("matmul.c", &[]),
        ("filled.c", &[]),
        ("do_loop.f90", &[]),
    ] {
        for level in ways("the_work_is_that_of_a_recording", &TWO) {
            let mut options = options.to_vec();
            options.push(level);
            let recorded = recorded(name, &options)?["work"].as_u64();
            let work = profile(name, &options)?.work();
            assert_eq!(Some(work), recorded, "{name} {options:?}");
        }
    }
    Ok(())
}

/// The profile of a recorded run with one thread, in operations.
fn recorded(name: &str, options: &[&str]) -> Result<Value> {
    let scratch = Scratch::new(&format!(
        "spans-recorded-{name}-{}",
        options.concat().replace(',', "-")
    ))?;
    let (mut options, arguments) = parted(options);
    options.push("-fopenmp");
    let program = build(name, &options, "--contech-mode=full", scratch.dir())?;
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .env("OMP_THREAD_LIMIT", "1")
        .env("OMP_CANCELLATION", "true")
        .env("CONTECH_TRACE", scratch.join("trace.bin"));
    run(&mut command)?.ok()?;
    let mut middle = Command::new(Outputs::get().command("contech-middle"));
    middle
        .arg(scratch.join("trace.bin"))
        .arg(scratch.join("graph.tg"));
    run(&mut middle)?.ok()?;
    let mut backend = Command::new(Outputs::get().command("contech-backend"));
    backend.args(["workspan", "--metric", "ops", "--format", "json"]);
    let said = run(backend.arg(scratch.join("graph.tg")))?.ok()?.out();
    scratch.done();
    Ok(serde_json::from_str(&said)?)
}

/// Programs whose parallelism is tasks alone: the waits nest like the functions, wait for tasks of callers too, for
/// tasks that a function left to its caller, or for whole trees.
const FORK_JOIN: [(&str, &[&str]); 8] = [
    ("waits_for_callers.c", &["-O1", "-DN=1500"]),
    ("waits_for_callers.c", &["-O1", "-DN=2000"]),
    ("waits_for_callers.c", &["-O0", "-DN=100"]),
    ("leaves_tasks.c", &["-O1"]),
    ("../omp_fib.c", &["-O1", "12"]),
    ("../omp_sort.c", &["-O1", "1000"]),
    ("../omp_nqueens.c", &["-O2", "6"]),
    ("../omp_tree.c", &["-O1"]),
];

#[test]
fn the_profile_of_a_running_fork_join_program_is_that_of_its_graph() -> Result<()> {
    for (name, options) in FORK_JOIN {
        let (online, recorded) = (profile(name, options)?, recorded(name, options)?);
        let said = format!("{name} {options:?}");
        let of = |what: &str| recorded[what].as_u64();
        assert_eq!(Some(online.work()), of("work"), "{said}: work");
        assert_eq!(Some(online.span()), of("span"), "{said}: span");
        for (from, profile) in [("on-line", &online.0), ("graph", &recorded)] {
            let sites = profile["sites"].as_array().context("sites")?;
            assert!(sites.len() > 3, "{said}, {from}: {profile}");
            let mut longest = 0;
            for site in sites {
                for on in ["on_work", "on_span"] {
                    let local = &site[on]["local"];
                    let (work, span) = (local["work"].as_u64(), local["span"].as_u64());
                    assert!(
                        work.is_some() && span <= work,
                        "{said}, {from}, {on}: {site}"
                    );
                    longest = longest.max(span.unwrap_or(0));
                }
                let one = &site["on_work"]["top_call_site"];
                if one["count"] == 1 {
                    let span = one["span"].as_u64();
                    assert!(span <= profile["span"].as_u64(), "{said}, {from}: {site}");
                }
            }
            assert!(longest > 0, "{said}, {from}");
        }
    }
    Ok(())
}

#[test]
fn the_span_of_equal_iterations_does_not_depend_on_their_number() -> Result<()> {
    for level in ways(
        "the_span_of_equal_iterations_does_not_depend_on_their_number",
        &TWO,
    ) {
        let of = |n: &str, m: &str| profile("uniform.c", &[level, n, m]);
        let (small, large) = (of("-DN=2", "-DM=3")?, of("-DN=9", "-DM=40")?);
        assert_eq!(small.span(), large.span(), "{level}");
        assert_eq!(large.steps_on_span()?.0, 1, "{level}");
        assert_eq!(large.iterations()?, 9 + 9 * 40, "{level}");
    }
    Ok(())
}

#[test]
fn a_pass_through_a_loop_over_vectors_is_an_iteration() -> Result<()> {
    let plain = profile("vectors.c", &["-O0"])?;
    assert_eq!(plain.iterations()?, 1000);
    for level in ["-O2", "-O3"] {
        let fast = profile("vectors.c", &[level, "-ffast-math"])?;
        let passes = fast.iterations()?;
        assert!(passes > 30 && passes < 500, "{level}: {passes}");
        let of = |path| fast.sum("loop", "", path);
        let (all, longest) = (of("/on_work/local/work")?, of("/on_span/local/work")?);
        assert!(longest * 20 < all, "{level}: {longest} of {all}");
    }
    Ok(())
}

#[test]
fn the_span_has_the_longest_section() -> Result<()> {
    for level in ways("the_span_has_the_longest_section", &TWO) {
        let (ten, step) = steps(level)?;
        let sections = profile("sections.c", &[level])?;
        assert_eq!(sections.steps_on_span()?, (1, ten + 40 * step), "{level}");
        assert_eq!(sections.iterations()?, 3, "{level}");
    }
    Ok(())
}

#[test]
fn a_barrier_waits_for_the_iterations_and_nowait_does_not() -> Result<()> {
    for level in ways("barrier", &LEVELS) {
        let (ten, step) = steps(level)?;
        let barrier = profile("two_loops.c", &[level])?;
        assert_eq!(
            barrier.steps_on_span()?,
            (2, 2 * ten + 60 * step),
            "{level}"
        );
        let nowait = profile("two_loops.c", &[level, "-DCLAUSE=nowait"])?;
        assert_eq!(nowait.steps_on_span()?, (1, ten + 40 * step), "{level}");
    }
    Ok(())
}

#[test]
fn a_loop_that_one_thread_executes_in_any_run_is_serial() -> Result<()> {
    for level in ways("a_loop_that_one_thread_executes_in_any_run_is_serial", &TWO) {
        let (ten, step) = steps(level)?;
        let one = profile("one_thread.c", &[level])?;
        // The span has all 8 calls of 10 steps twice, and one call of 100 steps.
        let expected = (16 + 1, 16 * ten + ten + 90 * step);
        assert_eq!(one.steps_on_span()?, expected, "{level}");
        assert_eq!(one.iterations()?, 8, "{level}");
    }
    Ok(())
}

#[test]
fn loops_within_tasks_are_parallel_and_so_are_the_tasks() -> Result<()> {
    for level in ways("loops_within_tasks_are_parallel_and_so_are_the_tasks", &TWO) {
        let (ten, step) = steps(level)?;
        let tasks = profile("in_tasks.c", &[level])?;
        assert_eq!(tasks.steps_on_span()?, (1, ten + 40 * step), "{level}");
        assert_eq!(tasks.iterations()?, 16, "{level}");
    }
    Ok(())
}

#[test]
fn the_tasks_of_a_taskloop_are_spawns() -> Result<()> {
    for level in ways("the_tasks_of_a_taskloop_are_spawns", &TWO) {
        let (ten, _) = steps(level)?;
        let tasks = profile("taskloop.c", &[level, "-DCONDITION=1"])?;
        assert_eq!(tasks.steps_on_span()?, (3, 3 * ten), "{level}");
        assert_eq!(tasks.sum("spawn", "", "/count")?, 4, "{level}");
        let serial = profile("taskloop.c", &[level, "-DCONDITION=0"])?;
        assert_eq!(serial.span(), serial.work(), "{level}");
    }
    Ok(())
}

#[test]
fn ordered_sections_follow_each_other() -> Result<()> {
    for level in ways("ordered_sections_follow_each_other", &TWO) {
        let ordered = profile("ordered.c", &[level])?;
        let (all, on_span) = ("/on_work/local/count", "/on_span/local/count");
        assert_eq!(ordered.sum("call", "in_order", all)?, 8, "{level}");
        // What an iteration does before its ordered section is in parallel with the earlier sections.
        assert_eq!(ordered.sum("call", "in_order", on_span)?, 7, "{level}");
        assert_eq!(ordered.iterations()?, 8, "{level}");
        let doacross = profile("doacross.c", &[level])?;
        assert_eq!(doacross.span(), doacross.work(), "{level}");
    }
    Ok(())
}

#[test]
fn iterations_that_are_left_leave_a_whole_profile() -> Result<()> {
    for level in ways("left", &LEVELS) {
        let (ten, step) = steps(level)?;
        let left = profile("left.cpp", &[level])?;
        // The span has one iteration of the first loop, which catches, and one of the four iterations that the second
        // loop had before it was cancelled.
        let expected = (2, ten + 40 * step + ten + 10 * step);
        let (count, work) = left.steps_on_span()?;
        // The thrower's own call of `steps` is on the span, too.
        assert_eq!((count, work), (expected.0 + 1, expected.1 + ten), "{level}");
        assert_eq!(left.iterations()?, 8 + 4, "{level}");
    }
    Ok(())
}

#[test]
fn do_loops_of_fortran_are_loops() -> Result<()> {
    for level in ways("fortran", &LEVELS) {
        let fortran = profile("do_loop.f90", &[level])?;
        assert_eq!(fortran.iterations()?, 3 * 8, "{level}");
        // Without parallelism the span equals the work; with it, of 1 + 2 + ... + 8 steps 8 are left.
        let (work, span) = (fortran.work(), fortran.span());
        assert!(work > 3 * span, "{level}: {work}, {span}");
    }
    Ok(())
}

#[test]
fn in_time_a_loop_has_the_same_iterations() -> Result<()> {
    for name in ["triangle.c", "triangle_inline.c"] {
        let time = profile_in(name, &["-O2", "-DN=2000"], "time")?;
        assert_eq!(time.iterations()?, 2000, "{name}");
        let own = time.sum("loop", "", "/on_work/top_call_site/work")?;
        let work = time.work();
        assert!(own <= work, "{name}: {own} of {work}");
        if name == "triangle_inline.c" {
            // Whatever the time of the loop, it is divided by operations, and the last iteration has two of 2001.
            let longest = time.sum("loop", "", "/on_span/local/work")?;
            assert!(longest * 900 <= own + 900, "{longest} of {own}");
        }
    }
    Ok(())
}

#[test]
fn loops_show_the_parallelism_that_the_same_program_has_with_spawns() -> Result<()> {
    // What main does before and after the kernel does not count.
    let kernel = |profile: &Profile, of: u64| -> Result<u64> {
        Ok(of - profile.sum("call", "main", "/on_work/local/work")?)
    };
    for name in ["lu.c", "heat.c", "cholesky.c"] {
        // The kernel is not inlined into main and not vectorised, because the test compares schedules.
        let options = ["-O1", "-fno-inline"];
        let loops = profile(name, &options)?;
        let spawns = profile(&format!("../cilk/{name}"), &options)?;
        let close = |a: u64, b: u64| a.abs_diff(b) * 50 < b;
        let of = |profile: &Profile| kernel(profile, profile.work());
        assert!(close(of(&loops)?, of(&spawns)?), "{name}: work");
        let of = |profile: &Profile| kernel(profile, profile.span());
        let (loops, spawns) = (of(&loops)?, of(&spawns)?);
        if name == "cholesky.c" {
            // An iteration is one row, and a spawned call has up to five rows.
            assert!(
                loops < spawns && 5 * loops > spawns,
                "{name}: {loops}, {spawns}"
            );
        } else {
            assert!(close(loops, spawns), "{name}: {loops}, {spawns}");
        }
    }
    Ok(())
}

#[test]
fn the_rows_of_a_product_of_matrices_are_its_parallelism() -> Result<()> {
    for level in ways("product", &LEVELS) {
        let product = profile("matmul.c", &[level])?;
        let of = |path| product.sum("loop", "", path);
        assert_eq!(of("/count")?, 48, "{level}");
        let (all, one) = (of("/on_work/local/work")?, of("/on_span/local/work")?);
        assert_eq!(all, 48 * one, "{level}");
    }
    Ok(())
}

#[test]
fn a_loop_that_became_one_call_is_parallel() -> Result<()> {
    // The iterations are cache lines of 64 bytes, 2^20 for each of the two loops.
    assert_eq!(profile("filled.c", &["-O2"])?.iterations()?, 2 << 20);
    let time = profile_in("filled.c", &["-O2"], "time")?;
    assert_eq!(time.iterations()?, 2 << 20);
    let (all, span) = ("/on_work/local/work", "/on_span/local/work");
    let (all, span) = (time.sum("loop", "", all)?, time.sum("loop", "", span)?);
    // Whatever the time of the loops, each of the 2^20 iterations has an equal share, rounded up.
    assert!(span << 19 <= all + (2 << 20), "{span} of {all}");
    Ok(())
}

#[test]
fn loops_that_are_seen_are_explained() -> Result<()> {
    let scratch = Scratch::new("spans-explained")?;
    let program = scratch.join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/spans/two_loops.c");
    let mut compile = Command::new(Outputs::get().command("contech-cc"));
    compile.args([
        "--contech-mode=workspan",
        "--contech-explain",
        "-fopenmp",
        "-O2",
    ]);
    compile.arg(source).arg("-o").arg(&program);
    let said = run(&mut compile)?.ok()?.err();
    for line in [16, 18] {
        let expected =
            format!("main.omp_outlined: the iterations shared at line {line} are strands");
        assert!(said.contains(&expected), "{said}");
    }
    let mut command = Command::new(&program);
    command
        .env("OMP_THREAD_LIMIT", "1")
        .env("CONTECH_METRIC", "ops")
        .env("CONTECH_PROFILE", scratch.join("profile.json"));
    let said = run(&mut command)?.ok()?.err();
    assert!(
        said.contains("(loop at two_loops.c:16), 1 of its 8 iterations on it"),
        "{said}"
    );
    scratch.done();
    Ok(())
}
