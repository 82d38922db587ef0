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

const PROGRAMS: [&str; 13] = [
    "fib",
    "quicksort",
    "matmul",
    "bfs",
    "bfs_fixed",
    "nqueens",
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

/// The profile of a recording of the serial form.
fn from_graph(name: &str) -> Result<Value> {
    let scratch = Scratch::new(&format!("cilk-graph-{name}"))?;
    let dir = scratch.dir();
    build_and_run(&format!("{name}.c"), dir, &[])?;
    let profile = analyse(dir)?;
    scratch.done();
    Ok(profile)
}

/// Work and span in operations of the trace in `dir`.
fn analyse(dir: &Path) -> Result<Value> {
    let outputs = Outputs::get();
    let mut middle = Command::new(outputs.command("contech-middle"));
    middle.arg(dir.join("trace.bin")).arg(dir.join("graph.tg"));
    run(&mut middle)?.ok()?;
    let mut backend = Command::new(outputs.command("contech-backend"));
    backend
        .args(["workspan", "--metric", "ops", "--format", "json"])
        .arg(dir.join("graph.tg"));
    Ok(serde_json::from_str(&run(&mut backend)?.ok()?.out())?)
}

/// The profile the program writes itself.
fn on_line(name: &str) -> Result<Value> {
    let scratch = Scratch::new(&format!("cilk-line-{name}"))?;
    build_and_run(
        &format!("{name}.c"),
        scratch.dir(),
        &["--contech-mode=workspan"],
    )?;
    let text = std::fs::read_to_string(scratch.dir().join("online.json"))?;
    scratch.done();
    Ok(serde_json::from_str(&text)?)
}

/// Invocations of every call site of a recorded function.
fn counts(profile: &Value) -> BTreeMap<(String, u64, String, String), u64> {
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
            (key, site["count"].as_u64().unwrap_or(0))
        })
        .fold(BTreeMap::new(), |mut all, (key, count)| {
            *all.entry(key).or_default() += count;
            all
        })
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
        .chain(["syntax.cpp"])
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
fn the_on_line_profile_counts_the_invocations_that_the_recording_has() -> Result<()> {
    for name in PROGRAMS {
        let (graph, line) = (counts(&from_graph(name)?), counts(&on_line(name)?));
        assert_eq!(graph, line, "{name}");
        assert!(graph.keys().any(|key| key.3 == "spawn"), "{name} spawns");
    }
    Ok(())
}

#[test]
fn partition_is_what_holds_quicksort_back() -> Result<()> {
    for profile in [from_graph("quicksort")?, on_line("quicksort")?] {
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
    for profile in [from_graph("matmul")?, on_line("matmul")?] {
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
