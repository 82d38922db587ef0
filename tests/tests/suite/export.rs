//! Every form that `contech-backend export` writes is read by a program that is not ours, which must find in it what the
//! analyses say of the same graph.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::once::Once;
use contech_tests::outputs::{Outputs, workspace};
use contech_tests::process::run;
use contech_tests::python;
use contech_tests::recording::{Recording, backend_json};
use contech_tests::scratch::Scratch;
use serde_json::Value;

/// A recorded program, and the folder of its exports.
#[derive(Clone)]
struct Exported {
    graph: PathBuf,
    folder: PathBuf,
}

/// Records a program of `tests/programs` and exports its graph in all forms that are one file.
fn exported(name: &str, options: &[&str]) -> Result<Exported> {
    static MADE: Once<Exported> = Once::new();
    MADE.get(name, || {
        let stem = name.split('.').next().unwrap_or(name);
        let scratch = Scratch::new(&format!("export-{stem}"))?;
        let program = scratch.join(stem);
        let mut build = Command::new(Outputs::get().cc());
        build.args(["-g", "-O1", "-pthread"]).args(options);
        build.arg(workspace().join("tests/programs").join(name));
        run(build.arg("-o").arg(&program))?.ok()?;
        let mut command = Command::new(&program);
        command.arg("1000").env("OMP_NUM_THREADS", "3");
        let recording = Recording::of(&mut command, scratch.dir())?;
        let graphs = recording.graphs(true)?;
        let graph = graphs.into_iter().next().context("a graph")?;
        let folder = scratch.subdir("exports")?;
        let mut export = export(&graph);
        for (option, file) in FILES {
            export.arg(option).arg(folder.join(file));
        }
        export.arg("--otf2").arg(folder.join("archive"));
        export.arg("--champsim").arg(folder.join("instructions"));
        export
            .arg("--accesses")
            .arg("--parquet")
            .arg(folder.join("tables"));
        run(&mut export)?.ok()?;
        for weight in ["span", "wait", "misses"] {
            let mut export = self::export(&graph);
            export.args(["--weight", weight, "--folded"]);
            run(export.arg(folder.join(format!("{weight}.folded"))))?.ok()?;
        }
        Ok(Exported { graph, folder })
    })
}

const FILES: [(&str, &str); 3] = [
    ("--perfetto", "trace.pftrace"),
    ("--folded", "work.folded"),
    ("--callgrind", "callgrind.out"),
];

fn export(graph: &Path) -> Command {
    let mut command = Command::new(Outputs::get().command("contech-backend"));
    command.arg("export").arg(graph);
    command
}

/// What the readers see in the files of a folder.
pub(super) fn seen(folder: &Path) -> Result<Value> {
    static SEEN: Once<Value> = Once::new();
    SEEN.get(&folder.to_string_lossy(), || {
        let mut read = Command::new(python::interpreter()?);
        read.arg(workspace().join("tests/exports/read.py"))
            .arg(folder);
        let read = run(&mut read)?.ok()?;
        serde_json::from_slice(&read.stdout).context("the readers print JSON")
    })
}

/// The programs whose exports are read: tasks of OpenMP, and threads that wait.
const PROGRAMS: [(&str, &[&str]); 2] = [("omp_sort.c", &["-fopenmp"]), ("queue.c", &[])];

/// What the analyses say of a graph.
struct Said {
    stats: Value,
    /// Nanoseconds in which contexts ran, and waited.
    running: u64,
    waiting: u64,
    misses: Vec<u64>,
    span: u64,
}

impl Said {
    fn of(graph: &Path) -> Result<Self> {
        let misses = backend_json(&["misses", "--sizes", "32K,8M"], graph)?;
        let points = misses["points"].as_array().context("points")?;
        let lanes = backend_json(&["parallelism"], graph)?;
        let waits = lanes["waits"].as_array().context("waits")?;
        Ok(Self {
            stats: backend_json(&["stats"], graph)?,
            running: lanes["work_ns"].as_u64().context("work_ns")?,
            waiting: waits.iter().filter_map(|wait| wait["ns"].as_u64()).sum(),
            misses: points
                .iter()
                .filter_map(|point| point["misses"].as_u64())
                .collect(),
            span: backend_json(&["workspan"], graph)?["span"]
                .as_u64()
                .context("span")?,
        })
    }

    fn stat(&self, name: &str) -> u64 {
        self.stats[name].as_u64().unwrap_or(u64::MAX)
    }
}

#[test]
fn a_timeline_has_every_task_and_wait_and_every_dependence() -> Result<()> {
    for (name, options) in PROGRAMS {
        let Exported { graph, folder } = exported(name, options)?;
        let (said, seen) = (Said::of(&graph)?, seen(&folder)?);
        let trace = &seen["trace.pftrace"];
        ensure!(
            trace["threads"] == said.stats["contexts"],
            "{name}: {trace}"
        );
        let slices = trace["categories"].as_object().context("categories")?;
        let tasks: u64 = slices
            .iter()
            .filter(|(kind, _)| *kind != "wait")
            .filter_map(|(_, n)| n.as_u64())
            .sum();
        let all = said.stats["tasks"].as_object().context("tasks")?;
        let all: u64 = all.values().filter_map(Value::as_u64).sum();
        let waits = slices["wait"].as_u64().context("waits")?;
        ensure!(
            tasks <= all && tasks + waits >= all,
            "{name}: {tasks} + {waits} of {all}: {trace}"
        );
        ensure!(trace["flows"] == said.stats["edges"], "{name}: {trace}");
        ensure!(trace["whole_flows"] == trace["flows"], "{name}: {trace}");
        ensure!(
            trace["running_ns"] == said.running,
            "{name}: {} {trace}",
            said.running
        );
        ensure!(
            trace["ns"]["wait"] == said.waiting,
            "{name}: {} {trace}",
            said.waiting
        );
        ensure!(
            trace["files"] == serde_json::json!([name]),
            "{name}: {trace}"
        );
    }
    Ok(())
}

#[test]
fn stacks_add_up_to_what_the_analyses_say() -> Result<()> {
    for (name, options) in PROGRAMS {
        let Exported { graph, folder } = exported(name, options)?;
        let (said, seen) = (Said::of(&graph)?, seen(&folder)?);
        for (file, total) in [
            ("work.folded", said.running),
            ("wait.folded", said.waiting),
            ("span.folded", said.span),
            ("misses.folded", said.misses[0]),
        ] {
            ensure!(
                seen[file]["total"] == total,
                "{name} {file}: {total} {}",
                seen[file]
            );
            let names = seen[file]["names"].as_array().context("names")?;
            ensure!(
                names.contains(&"main".into()),
                "{name} {file}: {}",
                seen[file]
            );
        }
    }
    let queue = seen(&exported(PROGRAMS[1].0, PROGRAMS[1].1)?.folder)?;
    let names = queue["wait.folded"]["names"].as_array().context("names")?;
    for wait in ["produce", "consume", "[condition]", "[join]"] {
        ensure!(names.contains(&wait.into()), "{names:?}");
    }
    Ok(())
}

#[test]
fn callgrind_annotate_finds_every_function_and_line() -> Result<()> {
    for (name, options) in PROGRAMS {
        let Exported { graph, folder } = exported(name, options)?;
        let said = Said::of(&graph)?;
        let annotate = |inclusive: &str| -> Result<BTreeMap<String, Vec<u64>>> {
            let mut command = Command::new("callgrind_annotate");
            command.args(["--threshold=100", "--auto=no", "--show-percs=no"]);
            command.arg(format!("--inclusive={inclusive}"));
            let text = run(command.arg(folder.join("callgrind.out")))?.ok()?.out();
            let row = |line: &str| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let at = words.iter().position(|word| {
                    word.parse::<u64>().is_err()
                        && word.replace(',', "").parse::<u64>().is_err()
                        && *word != "."
                })?;
                let numbers = words[..at]
                    .iter()
                    .map(|word| word.replace(',', "").parse().unwrap_or(0));
                let name = words[at..].join(" ");
                (at > 1).then(|| {
                    (
                        name.rsplit(':').next().unwrap_or_default().to_owned(),
                        numbers.collect(),
                    )
                })
            };
            Ok(text
                .lines()
                .filter_map(row)
                .map(|(name, numbers)| {
                    (
                        name.split(" [").next().unwrap_or_default().to_owned(),
                        numbers,
                    )
                })
                .collect())
        };
        let own = annotate("no")?;
        let total = own
            .iter()
            .find(|(name, _)| name.contains("PROGRAM TOTALS"))
            .context("totals")?
            .1;
        let expected = [
            said.running,
            said.waiting,
            total[2],
            said.stat("reads"),
            said.stat("writes"),
            said.misses[0],
            said.misses[1],
        ];
        ensure!(*total == expected, "{name}: {total:?} and {expected:?}");
        // What runs below main is all that runs but what no recorded code called.
        let below = annotate("yes")?;
        ensure!(below["main"][2] == total[2], "{name}: {below:?}");
        ensure!(own["main"][2] < total[2], "{name}: {own:?}");
    }
    Ok(())
}

#[test]
fn an_archive_has_a_location_for_each_thread_and_the_time_in_functions_and_waits() -> Result<()> {
    for (name, options) in PROGRAMS {
        let Exported { graph, folder } = exported(name, options)?;
        let (said, seen) = (Said::of(&graph)?, seen(&folder)?);
        let archive = &seen["archive"];
        let locations = archive["locations"].as_object().context("locations")?;
        let total = |table: &str| -> u64 {
            let all = locations.values().filter_map(|one| one[table].as_object());
            all.flat_map(|one| one.values().filter_map(Value::as_u64))
                .sum()
        };
        ensure!(locations.contains_key("main"), "{name}: {archive}");
        ensure!(
            archive["end_ns"] == said.stats["duration_ns"],
            "{name}: {archive}"
        );
        let (code, waits) = (total("code_ns"), total("waits_ns"));
        // Who waits while its thread executes another context is not seen to wait.
        let is_whole = match name {
            "queue.c" => code == said.running && waits == said.waiting,
            _ => code <= said.running && code > said.running / 2 && waits <= said.waiting,
        };
        ensure!(
            is_whole,
            "{name}: {} {} {archive}",
            said.running,
            said.waiting
        );
        ensure!(
            archive["files"] == serde_json::json!(["", name]),
            "{name}: {archive}"
        );
        // The tool of the format's authors counts the same events.
        let mut print = Command::new("otf2-print");
        let print = run(print.arg(folder.join("archive/traces.otf2")))?.ok()?;
        let lines = print.out();
        let lines = lines
            .lines()
            .filter(|line| line.starts_with("ENTER") || line.starts_with("LEAVE"));
        ensure!(archive["events"] == lines.count(), "{name}: {archive}");
    }
    let queue = seen(&exported(PROGRAMS[1].0, PROGRAMS[1].1)?.folder)?;
    let inside = &queue["archive"]["inside"];
    let waited = inside["waits: condition"].as_array().context("waits")?;
    let stages = [Value::from("produce"), Value::from("consume")];
    ensure!(waited.iter().all(|at| stages.contains(at)), "{inside}");
    ensure!(
        inside["waits: join"] == serde_json::json!(["main"]),
        "{inside}"
    );
    Ok(())
}

#[test]
fn traces_of_instructions_have_every_block_and_every_line_of_every_access() -> Result<()> {
    for (name, options) in PROGRAMS {
        let Exported { graph, folder } = exported(name, options)?;
        let (said, seen) = (Said::of(&graph)?, seen(&folder)?);
        let traces = &seen["instructions"];
        ensure!(
            traces["branches"] == said.stats["blocks"],
            "{name}: {traces}"
        );
        ensure!(traces["as_the_table"] == true, "{name}: {traces}");
        ensure!(traces["files"].as_u64() > Some(1), "{name}: {traces}");
        ensure!(traces["jumps"].as_u64() > Some(1000), "{name}: {traces}");
    }
    Ok(())
}

/// The columns of the tables, as the guide has them.
fn documented() -> Result<BTreeMap<String, Vec<[String; 2]>>> {
    let guide = fs::read_to_string(workspace().join(GUIDE))?;
    let mut tables: BTreeMap<String, Vec<[String; 2]>> = BTreeMap::new();
    let mut table = None;
    for line in guide.lines() {
        if line.starts_with('#') {
            table = line.strip_prefix("### ").map(str::to_owned);
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        if let (Some(table), [name, kind, _]) = (&table, &cells[..])
            && let Some(name) = name.strip_prefix("| `")
        {
            let columns = tables.entry(table.clone()).or_default();
            columns.push([name.trim_end_matches('`').to_owned(), (*kind).to_owned()]);
        }
    }
    Ok(tables)
}

const GUIDE: &str = "docs/src/guide/export.md";

#[test]
fn tables_have_the_documented_columns_and_answer_the_questions_of_the_guide() -> Result<()> {
    for (name, options) in PROGRAMS {
        let Exported { graph, folder } = exported(name, options)?;
        let said = Said::of(&graph)?;
        let mut read = Command::new(python::interpreter()?);
        read.arg(workspace().join("tests/exports/sql.py"));
        read.arg(folder.join("tables")).arg(workspace().join(GUIDE));
        let read = run(&mut read)?.ok()?;
        let seen: Value = serde_json::from_slice(&read.stdout)?;
        ensure!(
            seen["columns"] == serde_json::to_value(documented()?)?,
            "{name}: {}",
            seen["columns"]
        );
        let sum = |column: usize| -> u64 {
            let kinds = seen["tasks"].as_array().into_iter().flatten();
            kinds
                .filter_map(|kind| {
                    kind[column]
                        .as_str()
                        .map_or(kind[column].as_u64(), |n| n.parse().ok())
                })
                .sum()
        };
        for (column, total) in [
            (2, "blocks"),
            (3, "reads"),
            (4, "writes"),
            (5, "bytes_accessed"),
        ] {
            ensure!(
                sum(column) == said.stat(total),
                "{name} {total}: {}",
                seen["tasks"]
            );
        }
        for (kind, count) in said.stats["tasks"].as_object().context("tasks")? {
            let row = seen["tasks"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|row| row[0] == kind[..]);
            let found = row.map_or(Some(0), |row| row[1].as_u64());
            ensure!(found == count.as_u64(), "{name} {kind}: {}", seen["tasks"]);
        }
        let rows = &seen["rows"];
        for (table, total) in [
            ("edges", "edges"),
            ("contexts", "contexts"),
            ("accesses", "accesses"),
            ("functions", "functions"),
        ] {
            ensure!(rows[table] == said.stats[total], "{name} {table}: {rows}");
        }
        ensure!(
            seen["end_ns"] == said.stats["duration_ns"],
            "{name}: {seen}"
        );
        let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
        ensure!(
            number(&seen["executions"]) == said.stats["blocks"].as_u64(),
            "{name}: {}",
            seen["executions"]
        );
        ensure!(
            number(&seen["waiting_ns"]) == Some(said.waiting),
            "{name}: {}",
            seen["waiting_ns"]
        );
        ensure!(
            number(&seen["bytes"]) == said.stats["bytes_accessed"].as_u64(),
            "{name}: {}",
            seen["bytes"]
        );
        ensure!(
            seen["written"][0] == said.stats["writes"],
            "{name}: {}",
            seen["written"]
        );
        let (lost, misplaced) = (&seen["lost"], &seen["misplaced"]);
        ensure!(*lost == 0 && *misplaced == 0, "{name}: {lost} {misplaced}");
        let synchronised = &seen["synchronised"];
        ensure!(
            synchronised[1] == 0 && (name != "queue.c" || synchronised[0].as_u64() > Some(1000)),
            "{name}: {synchronised}"
        );
        let answers = seen["answers"].as_array().context("answers")?;
        ensure!(answers.len() == 10, "{} questions", answers.len());
        let others = seen["in_polars"].as_array().context("Polars")?;
        for (number, (one, other)) in (1..).zip(answers.iter().zip(others)) {
            ensure!(one == other, "{name}, question {number}: {one} {other}");
        }
        for (number, rows) in (1..).zip(answers) {
            let found = rows.as_array().is_some_and(|rows| !rows.is_empty());
            // What is never freed is up to the libraries.
            ensure!(found || number == 9, "{name}, question {number}: {rows}");
        }
    }
    Ok(())
}

#[test]
fn a_folder_with_files_is_refused() -> Result<()> {
    let sort = exported(PROGRAMS[0].0, PROGRAMS[0].1)?;
    let used = run(export(&sort.graph)
        .arg("--parquet")
        .arg(sort.folder.join("tables")))?
    .expect("exit 1")?;
    ensure!(
        used.err().contains("exists and is not an empty folder"),
        "{used}"
    );
    Ok(())
}

#[test]
fn a_folder_that_cannot_be_written_whole_is_not_there() -> Result<()> {
    let Exported { graph, .. } = exported(PROGRAMS[0].0, PROGRAMS[0].1)?;
    let scratch = Scratch::new("export-full")?;
    let folder = scratch.join("tables");
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap "" XFSZ; ulimit -f 1; exec "$@""#, "sh"]);
    shell
        .arg(Outputs::get().command("contech-backend"))
        .arg("export")
        .arg(&graph);
    let full = run(shell.args(["--accesses", "--parquet"]).arg(&folder))?.expect("exit 1")?;
    ensure!(
        full.err()
            .contains(&format!("cannot write {}", folder.display())),
        "{full}"
    );
    ensure!(full.err().contains("File too large"), "{full}");
    ensure!(
        fs::read_dir(scratch.dir())?.count() == 0,
        "something is left"
    );
    scratch.done();
    Ok(())
}

#[test]
fn what_cannot_be_written_is_named_and_leaves_nothing() -> Result<()> {
    let Exported { graph, .. } = exported(PROGRAMS[0].0, PROGRAMS[0].1)?;
    let scratch = Scratch::new("export-refused")?;
    for (option, _) in FILES {
        let full = run(export(&graph).arg(option).arg("/dev/full"))?.expect("exit 1")?;
        ensure!(full.err().contains("cannot write /dev/full: "), "{full}");
        ensure!(full.err().contains("No space left"), "{full}");
    }
    let file = scratch.join("same");
    let twice = run(export(&graph)
        .arg("--folded")
        .arg(&file)
        .arg("--callgrind")
        .arg(&file))?
    .expect("exit 1")?;
    ensure!(
        twice
            .err()
            .contains("--callgrind and --folded have the same file"),
        "{twice}"
    );
    let none = run(&mut export(&graph))?.expect("exit 1")?;
    ensure!(
        none.err().contains("say which form: --perfetto, --folded"),
        "{none}"
    );
    ensure!(!file.exists());
    scratch.done();
    Ok(())
}
