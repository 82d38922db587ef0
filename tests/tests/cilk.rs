//! The paper's programs in the Cilk-style header: they compute the right thing serially and on OpenMP tasks, a recording
//! of the serial form shows where the parallelism is, and the on-line profile agrees with it.
#![allow(clippy::cast_precision_loss, reason = "ratios of counts")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::outputs::Outputs;
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use serde_json::Value;

const PROGRAMS: [&str; 14] = [
    "fib",
    "quicksort",
    "matmul",
    "bfs",
    "bfs_fixed",
    "nqueens",
    "queens",
    "strassen",
    "cilksort",
    "fft",
    "heat",
    "lu",
    "cholesky",
    "tree",
];

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("programs/cilk")
        .join(name)
}

/// Compiles a program and runs it in `dir`; its own check decides.
fn build_and_run(name: &str, dir: &Path, options: &[&str]) -> Result<()> {
    execute(&build(name, dir, options)?, dir, &[]).with_context(|| format!("{name} {options:?}"))
}

fn build(name: &str, dir: &Path, options: &[&str]) -> Result<PathBuf> {
    let outputs = Outputs::get();
    let driver = if name.ends_with(".cpp") {
        "contech-c++"
    } else {
        "contech-cc"
    };
    let program = dir.join("program");
    let mut compile = Command::new(outputs.command(driver));
    compile.args(["-O2", "-Wno-unknown-pragmas"]).args(options);
    compile.arg(source(name)).arg("-o").arg(&program);
    run(&mut compile)?.ok()?;
    Ok(program)
}

fn execute(program: &Path, dir: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(dir)
        .env("CONTECH_TRACE", dir.join("trace.bin"))
        .env("CONTECH_PROFILE", dir.join("online.json"));
    run(&mut command)?.ok()?;
    Ok(())
}

/// A directory of this test's own: several tests make profiles of one program at the same time.
fn scratch(name: &str) -> Result<Scratch> {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("main");
    Ok(Scratch::new(&format!("{name}-{test}"))?)
}

/// The profile of a recording of the serial form.
fn from_graph(name: &str) -> Result<Value> {
    let scratch = scratch(&format!("cilk-graph-{name}"))?;
    let dir = scratch.dir();
    build_and_run(&format!("{name}.c"), dir, &[])?;
    let profile = analyse(dir)?;
    scratch.done();
    Ok(profile)
}

/// Work and span in operations of the trace in `dir`.
fn analyse(dir: &Path) -> Result<Value> {
    analyse_by(dir, "ops")
}

/// Work and span of the trace in `dir`.
fn analyse_by(dir: &Path, metric: &str) -> Result<Value> {
    let outputs = Outputs::get();
    let mut middle = Command::new(outputs.command("contech-middle"));
    middle.arg(dir.join("trace.bin")).arg(dir.join("graph.tg"));
    run(&mut middle)?.ok()?;
    let mut backend = Command::new(outputs.command("contech-backend"));
    backend
        .args(["workspan", "--metric", metric, "--format", "json"])
        .arg(dir.join("graph.tg"));
    Ok(serde_json::from_str(&run(&mut backend)?.ok()?.out())?)
}

/// The profile the program writes itself, in `time` or `ops`.
fn on_line(name: &str, metric: &str) -> Result<Value> {
    let scratch = scratch(&format!("cilk-line-{metric}-{name}"))?;
    let program = build(
        &format!("{name}.c"),
        scratch.dir(),
        &["--contech-mode=workspan"],
    )?;
    let file = scratch.dir().join("online.json");
    let mut command = Command::new(&program);
    command
        .env("CONTECH_METRIC", metric)
        .env("CONTECH_PROFILE", &file);
    run(&mut command)?.ok()?;
    let text = std::fs::read_to_string(&file)?;
    scratch.done();
    Ok(serde_json::from_str(&text)?)
}

/// Caller, line, callee and kind of a call site.
type Place = (String, u64, String, String);

/// What `value` finds at every call site of a recorded function; several at one place add up.
fn sites<T: Default + std::ops::AddAssign>(
    profile: &Value,
    value: impl Fn(&Value) -> T,
) -> BTreeMap<Place, T> {
    let text = |site: &Value, key: &str| site[key].as_str().unwrap_or_default().to_owned();
    let sites = profile["sites"].as_array().into_iter().flatten();
    sites
        .filter(|site| {
            text(site, "file").contains("programs/cilk") && text(site, "callee") != "main"
        })
        .map(|site| {
            let key = (
                text(site, "caller"),
                site["line"].as_u64().unwrap_or(0),
                text(site, "callee"),
                text(site, "kind"),
            );
            (key, value(site))
        })
        .fold(BTreeMap::new(), |mut all, (key, one)| {
            *all.entry(key).or_default() += one;
            all
        })
}

/// Every number of a profile: counts, work and span in the three measures, on work and on span.
#[derive(Debug, Default, PartialEq)]
struct Numbers(BTreeMap<String, u64>);

impl std::ops::AddAssign for Numbers {
    fn add_assign(&mut self, other: Self) {
        for (path, number) in other.0 {
            *self.0.entry(path).or_default() += number;
        }
    }
}

fn numbers(site: &Value) -> Numbers {
    let mut all = BTreeMap::new();
    for profile in ["on_work", "on_span"] {
        for measure in ["top_call_site", "top_caller", "local"] {
            for number in ["count", "work", "span"] {
                let path = format!("/{profile}/{measure}/{number}");
                let number = site.pointer(&path).and_then(Value::as_u64);
                all.insert(path, number.unwrap_or(u64::MAX));
            }
        }
    }
    Numbers(all)
}

fn site<'p>(profile: &'p Value, caller: &str, callee: &str, kind: &str) -> Result<&'p Value> {
    let sites = profile["sites"].as_array().context("sites")?;
    let found = sites
        .iter()
        .find(|s| s["caller"] == caller && s["callee"] == callee && s["kind"] == kind);
    found.with_context(|| format!("{kind} of {callee} from {caller} in {profile:#}"))
}

fn number(value: &Value, path: &str) -> f64 {
    value
        .pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or(f64::NAN)
}

#[test]
fn every_program_is_right_on_openmp_tasks() -> Result<()> {
    // Compiled by clang itself: what is checked is the header.
    let library = "/usr/lib/llvm-22/lib";
    if !Path::new(library).join("libomp.so").exists() {
        // The header's OpenMP form is compiled all the same below, by the syntax check.
        return syntax_only();
    }
    for name in PROGRAMS
        .map(|name| format!("{name}.c"))
        .iter()
        .map(String::as_str)
        .chain(["syntax.cpp", "range.c", "loop.cpp"])
    {
        let scratch = Scratch::new(&format!("cilk-omp-{name}"))?;
        let program = scratch.dir().join("program");
        let mut compile = clang(name);
        compile
            .args(["-L", library, "-Wl,-rpath", &format!("-Wl,{library}"), "-o"])
            .arg(&program);
        run(&mut compile)?.ok()?;
        run(Command::new(&program).env("OMP_NUM_THREADS", "4"))?
            .ok()
            .context(name.to_owned())?;
    }
    Ok(())
}

fn clang(name: &str) -> Command {
    let clang = if name.ends_with(".cpp") {
        "clang++-22"
    } else {
        "clang-22"
    };
    let mut command = Command::new(clang);
    command.args(["-O2", "-Wall", "-Werror", "-fopenmp", "-I"]);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../instrument/cc/include"));
    command.arg(source(name));
    command
}

fn syntax_only() -> Result<()> {
    for name in PROGRAMS {
        let mut check = clang(&format!("{name}.c"));
        run(check.arg("-fsyntax-only"))?.ok()?;
    }
    Ok(())
}

#[test]
fn the_header_works_in_cxx_in_every_mode() -> Result<()> {
    for (mode, options) in [
        ("full", &[][..]),
        ("workspan", &["--contech-mode=workspan"]),
    ] {
        let scratch = Scratch::new(&format!("cilk-cxx-{mode}"))?;
        build_and_run("syntax.cpp", scratch.dir(), options)?;
        scratch.done();
    }
    Ok(())
}

#[test]
fn the_on_line_profile_in_operations_is_that_of_the_recording() -> Result<()> {
    for name in PROGRAMS {
        let (graph, line) = (from_graph(name)?, on_line(name, "ops")?);
        let (graph, line) = (sites(&graph, numbers), sites(&line, numbers));
        assert_eq!(graph.len(), line.len(), "{name}");
        for (place, expected) in &graph {
            for (number, expected) in &expected.0 {
                let got = line.get(place).and_then(|numbers| numbers.0.get(number));
                assert_eq!(got, Some(expected), "{name}: {number} of {place:?}");
            }
        }
        assert!(graph.keys().any(|key| key.3 == "spawn"), "{name} spawns");
    }
    Ok(())
}

#[test]
fn the_on_line_profile_in_time_counts_the_same_invocations() -> Result<()> {
    let count = |site: &Value| site["count"].as_u64().unwrap_or(u64::MAX);
    for name in PROGRAMS {
        let (graph, line) = (from_graph(name)?, on_line(name, "time")?);
        assert_eq!(line["metric"], "time");
        assert_eq!(sites(&graph, count), sites(&line, count), "{name}");
        // The time of the program is in its call sites, and none of it twice.
        let work = number(&line, "/work");
        let own = |site: &Value| site["on_work"]["local"]["work"].as_u64().unwrap_or(0);
        let local: u64 = sites(&line, own).values().sum();
        assert!(local as f64 <= work, "{name}: {local} of {work}");
    }
    Ok(())
}

#[test]
fn known_shares_of_the_time_are_those_of_both_profiles() -> Result<()> {
    // What is compared are shares of a tenth of a second of CPU time: a busy machine changes neither, and their
    // tolerance is far from what operations alone would say.
    const DEAR: f64 = 0.75;
    const TOLERANCE: f64 = 0.1;
    let share = |profile: &Value| {
        let own = |caller, callee, kind| {
            let site = site(profile, caller, callee, kind)?;
            Ok::<_, anyhow::Error>(number(site, "/on_work/local/work"))
        };
        let (dear, cheap) = (own("main", "dear", "spawn")?, own("main", "cheap", "call")?);
        Ok::<_, anyhow::Error>(dear / (dear + cheap))
    };
    let scratch = Scratch::new("cilk-planted")?;
    let program = build("planted.c", scratch.dir(), &[])?;
    let mut command = Command::new(&program);
    command
        .env("CONTECH_TRACE", scratch.join("trace.bin"))
        .env("CONTECH_TIMES", "1");
    run(&mut command)?.ok()?;
    let operations = share(&analyse(scratch.dir())?)?;
    assert!(operations < DEAR - 3.0 * TOLERANCE, "{operations}");
    let graph = share(&analyse_by(scratch.dir(), "time")?)?;
    assert!((graph - DEAR).abs() < TOLERANCE, "from the graph {graph}");
    scratch.done();
    let line = share(&on_line("planted", "time")?)?;
    assert!((line - DEAR).abs() < TOLERANCE, "on-line {line}");
    Ok(())
}

#[test]
fn times_within_tasks_change_neither_blocks_nor_operations() -> Result<()> {
    let scratch = Scratch::new("cilk-times")?;
    let program = build("quicksort.c", scratch.dir(), &[])?;
    let mut all = Vec::new();
    for times in ["0", "1"] {
        let mut command = Command::new(&program);
        command
            .env("CONTECH_TRACE", scratch.join("trace.bin"))
            .env("CONTECH_TIMES", times);
        run(&mut command)?.ok()?;
        let profile = analyse(scratch.dir())?;
        let mut compare = Command::new(Outputs::get().command("contech-middle"));
        compare.arg("--compare");
        compare
            .arg(scratch.join("trace.bin"))
            .arg(scratch.join("graph.tg"));
        run(&mut compare)?.ok()?;
        all.push(sites(&profile, numbers));
    }
    scratch.done();
    assert_eq!(all[0], all[1]);
    Ok(())
}

#[test]
fn partition_is_what_holds_quicksort_back() -> Result<()> {
    for profile in [from_graph("quicksort")?, on_line("quicksort", "time")?] {
        let sort = number(
            site(&profile, "main", "pqsort", "call")?,
            "/on_work/top_call_site/span",
        );
        let partition = site(&profile, "pqsort", "partition", "call")?;
        let own = number(partition, "/on_span/local/span");
        assert!(own / sort > 0.9, "{own} of {sort}");
        let top = |key| number(partition, &format!("/on_span/top_call_site/{key}"));
        assert_eq!(top("work"), top("span"), "partition is serial");
    }
    Ok(())
}

#[test]
fn fibs_recursive_sites_have_the_golden_ratio() -> Result<()> {
    let profile = from_graph("fib")?;
    let work = |kind| {
        Ok::<_, anyhow::Error>(number(
            site(&profile, "fib", "fib", kind)?,
            "/on_work/top_caller/work",
        ))
    };
    let ratio = work("spawn")? / work("call")?;
    assert!((ratio / 1.618_034 - 1.0).abs() < 0.02, "{ratio}");
    Ok(())
}

#[test]
fn the_base_case_of_matrix_multiply_has_only_local_work() -> Result<()> {
    for profile in [from_graph("matmul")?, on_line("matmul", "time")?] {
        let base = site(&profile, "mm", "base", "call")?;
        assert_eq!(number(base, "/on_work/top_caller/work"), 0.0);
        let all = number(
            site(&profile, "main", "mm", "call")?,
            "/on_work/top_call_site/work",
        );
        assert!(number(base, "/on_work/local/work") / all > 0.8);
    }
    Ok(())
}

#[test]
fn the_fix_of_breadth_first_search_raises_its_parallelism() -> Result<()> {
    let parallelism = |name| {
        let profile = from_graph(name)?;
        let level = site(&profile, "main", "process_level", "call")?;
        Ok::<_, anyhow::Error>((
            number(level, "/on_work/top_call_site/work")
                / number(level, "/on_work/top_call_site/span"),
            profile,
        ))
    };
    let ((before, profile), (after, _)) = (parallelism("bfs")?, parallelism("bfs_fixed")?);
    assert!(after / before > 5.0, "{before} to {after}");
    let level = number(
        site(&profile, "main", "process_level", "call")?,
        "/on_work/top_call_site/span",
    );
    let nodes = profile["sites"]
        .as_array()
        .context("sites")?
        .iter()
        .find(|s| s["callee"] == "process_nodes");
    let own = number(nodes.context("process_nodes")?, "/on_span/local/span");
    assert!(own / level > 0.66, "process_nodes is {own} of {level}");
    Ok(())
}

/// Work and span of the outermost invocation of `function`, for sizes 0, 1, 2, ...
fn sizes(name: &str, function: &str, count: usize) -> Result<Vec<(u64, u64)>> {
    let scratch = Scratch::new(&format!("cilk-sizes-{name}"))?;
    let program = build(&format!("{name}.c"), scratch.dir(), &[])?;
    let mut all = Vec::new();
    for size in 0..count {
        execute(&program, scratch.dir(), &[&size.to_string()])?;
        let profile = analyse(scratch.dir())?;
        let top = &site(&profile, "main", function, "call")?["on_work"]["top_call_site"];
        let value = |key: &str| top[key].as_u64().context(key.to_owned());
        all.push((value("work")?, value("span")?));
    }
    scratch.done();
    Ok(all)
}

#[test]
fn recorded_recursions_have_the_work_and_span_of_their_recurrences() -> Result<()> {
    let fib = sizes("fib", "fib", 14)?;
    assert_eq!(fib[0].0, fib[1].0, "a leaf is a leaf");
    // What an inner invocation executes itself.
    let own = fib[2].0 - fib[1].0 - fib[0].0;
    for n in 2..fib.len() {
        assert_eq!(
            fib[n].0,
            own + fib[n - 1].0 + fib[n - 2].0,
            "work of fib({n})"
        );
    }
    // From n = 4 on the spawned side is the longer one, by more than the call of the other one takes.
    let step = fib[4].1 - fib[3].1;
    for n in 4..fib.len() {
        assert_eq!(fib[n].1, step + fib[n - 1].1, "span of fib({n})");
    }
    let tree = sizes("tree", "leaves", 9)?;
    let (own, step) = (tree[1].0 - 2 * tree[0].0, tree[1].1 - tree[0].1);
    for depth in 1..tree.len() {
        assert_eq!(
            tree[depth].0,
            own + 2 * tree[depth - 1].0,
            "work at depth {depth}"
        );
        assert_eq!(
            tree[depth].1,
            step + tree[depth - 1].1,
            "span at depth {depth}"
        );
    }
    Ok(())
}

/// Operations of an invocation of `queens.c`, by where they are.
#[derive(Clone, Copy, Debug)]
struct Queens {
    /// All of one that has placed every queen, and of one that cannot place the next.
    placed: u64,
    stuck: u64,
    /// Up to the first spawn, from one spawn to the next, from the last one to the sync.
    first: u64,
    next: u64,
    last: u64,
    /// After the sync: in all, and for each child.
    after: u64,
    each: u64,
}

impl Queens {
    /// Work and span by the recurrence.
    fn place(&self, all: u32, [columns, left, right]: [u32; 3]) -> (u64, u64) {
        if columns == all {
            return (self.placed, self.placed);
        }
        let mut free = all & !(columns | left | right);
        let children = u64::from(free.count_ones());
        if children == 0 {
            return (self.stuck, self.stuck);
        }
        let mut at = self.first;
        let (mut work, mut longest) = (0, 0);
        while free != 0 {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            let child = self.place(all, [columns | bit, (left | bit) << 1, (right | bit) >> 1]);
            work += child.0;
            longest = longest.max(at + child.1);
            at += self.next;
        }
        let sync = at - self.next + self.last;
        let rest = self.after + children * self.each;
        (work + sync + rest, longest.max(sync) + rest)
    }

    fn queens(&self, n: u32) -> (u64, u64) {
        self.place((1 << n) - 1, [0; 3])
    }
}

#[test]
fn recorded_n_queens_has_the_work_and_span_of_its_recurrence() -> Result<()> {
    let scratch = Scratch::new("cilk-queens")?;
    let program = build("queens.c", scratch.dir(), &[])?;
    let mut measured = vec![(0, 0)];
    let mut leaves = Vec::new();
    for n in 1..=8u64 {
        execute(&program, scratch.dir(), &[&n.to_string()])?;
        let profile = analyse(scratch.dir())?;
        let top = &site(&profile, "main", "place", "call")?["on_work"]["top_call_site"];
        let value = |key: &str| top[key].as_u64().context(key.to_owned());
        measured.push((value("work")?, value("span")?));
        if n <= 2 {
            // One child that has placed its queen; two that are stuck.
            let spawned = &site(&profile, "place", "place", "spawn")?["on_work"]["local"];
            leaves.push(spawned["work"].as_u64().context("work")? / n);
        }
    }
    scratch.done();
    // What one and two children cost gives what each costs; where in the invocation it is spent, the spans of up to
    // five queens tell. All that fits them must fit the others.
    let own: Vec<u64> = (1..=2)
        .map(|n| measured[n].0 - n as u64 * leaves[n - 1])
        .collect();
    let child = own[1] - own[0];
    let mut fitting = 0;
    for first in 1..own[0] {
        for next in 1..=child {
            for last in 0..own[0].saturating_sub(first) {
                let Some(after) = (own[0] + next).checked_sub(first + last + child) else {
                    continue;
                };
                let each = child - next;
                let model = Queens {
                    placed: leaves[0],
                    stuck: leaves[1],
                    first,
                    next,
                    last,
                    after,
                    each,
                };
                if (1..=5).any(|n| model.queens(n) != measured[n as usize]) {
                    continue;
                }
                fitting += 1;
                for n in 6..=8 {
                    assert_eq!(
                        model.queens(n),
                        measured[n as usize],
                        "{n} queens, {model:?}"
                    );
                }
            }
        }
    }
    assert!(fitting > 0, "no recurrence has {measured:?}");
    Ok(())
}

#[test]
fn openmp_tasks_with_one_thread_are_profiled_like_the_serial_form() -> Result<()> {
    let library = "/usr/lib/llvm-22/lib";
    // Where the program spawns, and how often.
    let spawns = |profile: &Value| {
        let mut all = BTreeMap::<u64, u64>::new();
        for site in profile["sites"].as_array().into_iter().flatten() {
            if site["kind"] == "spawn" {
                *all.entry(site["line"].as_u64().unwrap_or(0)).or_default() +=
                    site["count"].as_u64().unwrap_or(u64::MAX);
            }
        }
        all
    };
    for name in PROGRAMS {
        let scratch = Scratch::new(&format!("cilk-omp-line-{name}"))?;
        let search = format!("-Wl,-rpath,{library}");
        let program = build(
            &format!("{name}.c"),
            scratch.dir(),
            &[
                "--contech-mode=workspan",
                "-fopenmp",
                "-L",
                library,
                &search,
            ],
        )?;
        let file = scratch.dir().join("online.json");
        let mut command = Command::new(&program);
        command
            .env("OMP_NUM_THREADS", "1")
            .env("CONTECH_METRIC", "ops")
            .env("CONTECH_PROFILE", &file);
        run(&mut command)?.ok()?;
        let tasks: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
        scratch.done();
        let serial = on_line(name, "ops")?;
        assert_eq!(tasks["complete"], true, "{name}: {}", tasks["notes"]);
        assert_eq!(spawns(&tasks), spawns(&serial), "{name}");
        // Generating a task takes operations of its own, which are little beside what it does.
        let parallelism = number(&tasks, "/parallelism") / number(&serial, "/parallelism");
        assert!((0.8..1.25).contains(&parallelism), "{name}: {parallelism}");
    }
    Ok(())
}

/// Work and span in operations of `loop` of a program with a parallel loop of `n` indices in grains of `grain`.
fn parallel_loop(
    program: &Path,
    dir: &Path,
    on_line: bool,
    n: u64,
    grain: u64,
) -> Result<[u64; 2]> {
    let mut command = Command::new(program);
    command
        .args([n.to_string(), grain.to_string()])
        .env("CONTECH_METRIC", "ops")
        .env("CONTECH_TRACE", dir.join("trace.bin"))
        .env("CONTECH_PROFILE", dir.join("online.json"));
    run(&mut command)?.ok()?;
    let profile = if on_line {
        serde_json::from_str(&std::fs::read_to_string(dir.join("online.json"))?)?
    } else {
        analyse(dir)?
    };
    let top = &site(&profile, "main", "loop", "call")?["on_work"]["top_call_site"];
    let value = |key: &str| top[key].as_u64().context(key.to_owned());
    Ok([value("work")?, value("span")?])
}

#[test]
fn a_parallel_loop_has_the_span_of_one_grain_and_of_its_halvings() -> Result<()> {
    for name in ["range.c", "loop.cpp"] {
        let mut modes = Vec::new();
        for options in [&[][..], &["--contech-mode=workspan"]] {
            let on_line = !options.is_empty();
            let scratch = Scratch::new(&format!("cilk-loop-{name}-{on_line}"))?;
            let program = build(name, scratch.dir(), options)?;
            let of = |n, grain| parallel_loop(&program, scratch.dir(), on_line, n, grain);
            // One grain is serial, and each of its indices costs the same. (A single one is not asked whether it is a
            // grain's worth.)
            let ([two, span], [three, _]) = (of(2, 64)?, of(3, 64)?);
            assert_eq!(two, span, "{name}");
            let each = three - two;
            let leaf = |grain: u64| two + (grain - 2) * each;
            // What a halving adds to the span, and to the work besides the second half.
            let [work, span] = of(4, 2)?;
            let (step, more) = (span - two, work - 2 * two);
            assert!(step < more + two, "{name}: the halves are parallel");
            let mut all = Vec::new();
            for (grain, halvings) in [(2, 7), (4, 4), (8, 0), (8, 1), (8, 7), (64, 5)] {
                let n = grain << halvings;
                let [work, span] = of(n, grain)?;
                let grains = 1 << halvings;
                let expected = grains * leaf(grain) + (grains - 1) * more;
                assert_eq!(work, expected, "{name}: work of {n} by {grain}");
                let expected = leaf(grain) + halvings * step;
                assert_eq!(span, expected, "{name}: span of {n} by {grain}");
                all.push([work, span]);
            }
            // A range that does not divide: its longest path is that of the largest part.
            let [work, span] = of(100, 8)?;
            assert_eq!(span, leaf(7) + 4 * step, "{name}: span of 100 by 8");
            assert!(work > 8 * span, "{name}: {work} and {span} of 100 by 8");
            all.push([work, span]);
            modes.push(all);
            scratch.done();
        }
        assert_eq!(modes[0], modes[1], "{name}: from the graph and on-line");
    }
    Ok(())
}
