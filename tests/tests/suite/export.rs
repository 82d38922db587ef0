//! Every form that `contech-backend export` writes is read by a program that is not ours, which
//! must find in it what the analyses say of the same graph.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::once::Once;
use contech_tests::outputs::{tool, workspace};
use contech_tests::process::run;
use contech_tests::python;
use contech_tests::recording::{Recording, backend_json};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use serde_json::{Value, json};

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
        let source = workspace().join("tests/programs").join(name);
        let flags = [&["-g", "-O1", "-pthread"], options].concat();
        let mut command = Toolchain::contech().compile(&source, &flags, &program)?;
        command.arg("1000").env("OMP_NUM_THREADS", "3");
        let (_, graph) = Recording::whole(&mut command, scratch.dir())?;
        let folder = scratch.subdir("exports")?;
        let mut export = export(&graph);
        for (option, file) in FILES {
            export.arg(option).arg(folder.join(file));
        }
        export.arg("--otf2").arg(folder.join("archive"));
        export.arg("--champsim").arg(folder.join("instructions"));
        export.arg("--accesses").arg("--parquet").arg(folder.join("tables"));
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
    let mut command = tool("contech-backend");
    command.arg("export").arg(graph);
    command
}

/// What the readers see in the files of a folder.
pub(super) fn seen(folder: &Path) -> Result<Value> {
    static SEEN: Once<Value> = Once::new();
    SEEN.get(&folder.to_string_lossy(), || {
        let mut read = Command::new(python::interpreter()?);
        read.arg(workspace().join("tests/exports/read.py")).arg(folder);
        run(&mut read)?.ok()?.json()
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
            misses: points.iter().filter_map(|point| point["misses"].as_u64()).collect(),
            span: backend_json(&["workspan"], graph)?["span"].as_u64().context("span")?,
        })
    }

    fn stat(&self, name: &str) -> u64 {
        self.stats[name].as_u64().unwrap_or(u64::MAX)
    }
}

/// Checks that what stands at these places is what the analyses say.
fn agree(name: &str, seen: &Value, said: &[(&str, Value)]) -> Result<()> {
    for (place, value) in said {
        let found = seen.pointer(place);
        ensure!(found == Some(value), "{name} {place}: {found:?}, not {value}");
    }
    Ok(())
}

/// The sum of the numbers of an object.
fn sum(of: &Value) -> u64 {
    let all = of.as_object().into_iter().flat_map(|of| of.values());
    all.filter_map(Value::as_u64).sum()
}

#[test]
fn every_form_has_what_the_analyses_say() -> Result<()> {
    for (name, options) in PROGRAMS {
        let Exported { graph, folder } = exported(name, options)?;
        let (said, seen) = (Said::of(&graph)?, seen(&folder)?);
        let stat = |name: &str| said.stats[name].clone();
        let numbers = [
            ("/trace.pftrace/threads", stat("contexts")),
            ("/trace.pftrace/flows", stat("edges")),
            ("/trace.pftrace/whole_flows", stat("edges")),
            ("/trace.pftrace/running_ns", said.running.into()),
            ("/trace.pftrace/ns/wait", said.waiting.into()),
            ("/trace.pftrace/files", json!([name])),
            ("/work.folded/total", said.running.into()),
            ("/wait.folded/total", said.waiting.into()),
            ("/span.folded/total", said.span.into()),
            ("/misses.folded/total", said.misses[0].into()),
            ("/archive/end_ns", stat("duration_ns")),
            ("/archive/files", json!(["", name])),
            ("/instructions/branches", stat("blocks")),
            ("/instructions/as_the_table", true.into()),
        ];
        agree(name, &seen, &numbers)?;
        let slices = &seen["trace.pftrace"]["categories"];
        let waits = slices["wait"].as_u64().context("waits")?;
        let (tasks, all) = (sum(slices) - waits, sum(&said.stats["tasks"]));
        ensure!(tasks <= all && tasks + waits >= all, "{name}: {slices}, {all} tasks");
        let named = |file: &str, list: &str, word: &str| {
            let all = seen[file][list].as_array();
            all.is_some_and(|all| all.contains(&word.into()))
        };
        for file in ["work.folded", "wait.folded", "span.folded", "misses.folded"] {
            ensure!(named(file, "names", "main"), "{name}: {}", seen[file]);
        }
        let traces = &seen["instructions"];
        let many = traces["files"].as_u64() > Some(1) && traces["jumps"].as_u64() > Some(1000);
        ensure!(many, "{name}: {traces}");
        an_archive(name, &said, &seen["archive"], &folder)?;
    }
    let queue = seen(&exported(PROGRAMS[1].0, PROGRAMS[1].1)?.folder)?;
    let names = queue["wait.folded"]["names"].as_array().context("names")?;
    for wait in ["produce", "consume", "[condition]", "[join]"] {
        ensure!(names.contains(&wait.into()), "{names:?}");
    }
    let inside = &queue["archive"]["inside"];
    let waited = inside["waits: condition"].as_array().context("waits")?;
    let stages = [Value::from("produce"), Value::from("consume")];
    ensure!(waited.iter().all(|at| stages.contains(at)), "{inside}");
    ensure!(inside["waits: join"] == json!(["main"]), "{inside}");
    Ok(())
}

/// An archive has a location for each thread, and the time in functions and waits.
fn an_archive(name: &str, said: &Said, archive: &Value, folder: &Path) -> Result<()> {
    let locations = archive["locations"].as_object().context("locations")?;
    ensure!(locations.contains_key("main"), "{name}: {archive}");
    let total = |table: &str| locations.values().map(|one| sum(&one[table])).sum::<u64>();
    let (code, waits) = (total("code_ns"), total("waits_ns"));
    // Who waits while its thread executes another context is not seen to wait.
    let is_whole = match name {
        "queue.c" => code == said.running && waits == said.waiting,
        _ => code <= said.running && code > said.running / 2 && waits <= said.waiting,
    };
    ensure!(is_whole, "{name}: {} {} {archive}", said.running, said.waiting);
    if name == "queue.c" {
        let source = fs::read_to_string(workspace().join("tests/programs/queue.c"))?;
        let line = source.lines().position(|line| line.contains("*produce(void"));
        ensure!(archive["lines"]["produce"] == line.context("produce")? + 1, "{archive}");
    }
    // The tool of the format's authors counts the same events.
    let mut print = Command::new("otf2-print");
    let print = run(print.arg(folder.join("archive/traces.otf2")))?.ok()?;
    let lines = print.out();
    let lines = lines.lines().filter(|line| line.starts_with("ENTER") || line.starts_with("LEAVE"));
    ensure!(archive["events"] == lines.count(), "{name}: {archive}");
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
            // Numbers, or dots, and then a name.
            let number = |word: &str| match word {
                "." => Some(0),
                word => word.replace(',', "").parse().ok(),
            };
            let row = |line: &str| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let numbers: Vec<u64> = words.iter().map_while(|word| number(word)).collect();
                let name = words.get(numbers.len()..)?.join(" ");
                let name = name.rsplit(':').next()?.split(" [").next()?;
                let is_row = numbers.len() > 1 && !name.is_empty();
                is_row.then(|| (name.to_owned(), numbers))
            };
            Ok(text.lines().filter_map(row).collect())
        };
        let own = annotate("no")?;
        let total =
            own.iter().find(|(name, _)| name.contains("PROGRAM TOTALS")).context("totals")?.1;
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

/// The columns of the tables, as the guide has them.
fn documented() -> Result<BTreeMap<String, Vec<[String; 2]>>> {
    let guide = fs::read_to_string(workspace().join(GUIDE))?;
    let said = guide.split("<!-- says: contech export --columns -->").nth(1);
    let said = said.and_then(|said| said.split("<!-- end -->").next());
    let mut tables: BTreeMap<String, Vec<[String; 2]>> = BTreeMap::new();
    let mut table = String::new();
    for line in said.context("the columns")?.lines() {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        if let (true, [name, kind]) = (line.starts_with("  "), &words[..]) {
            let columns = tables.entry(table.clone()).or_default();
            columns.push([*name, *kind].map(str::to_owned));
        } else if let Some((name, _)) = line.split_once(": ") {
            name.clone_into(&mut table);
        }
    }
    // The names of the folders are columns, too.
    let accesses = tables.get_mut("accesses").context("accesses")?;
    accesses.extend(["context", "from_ns"].map(|name| [name, "BIGINT"].map(str::to_owned)));
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
        let seen = run(&mut read)?.ok()?.json()?;
        let stat = |name: &str| said.stats[name].clone();
        let numbers = [
            ("/columns", serde_json::to_value(documented()?)?),
            ("/rows/edges", stat("edges")),
            ("/rows/contexts", stat("contexts")),
            ("/rows/accesses", stat("accesses")),
            ("/rows/functions", stat("functions")),
            ("/end_ns", stat("duration_ns")),
            ("/written/0", stat("writes")),
            ("/lost", 0.into()),
            ("/misplaced", 0.into()),
            ("/synchronised/1", 0.into()),
        ];
        agree(name, &seen, &numbers)?;
        // Sums that may be too large for a number are texts.
        let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
        let kinds = seen["tasks"].as_array().context("kinds of tasks")?;
        let column = |at: usize| kinds.iter().filter_map(|kind| number(&kind[at])).sum::<u64>();
        for (found, total) in [
            (Some(column(2)), said.stat("blocks")),
            (Some(column(3)), said.stat("reads")),
            (Some(column(4)), said.stat("writes")),
            (Some(column(5)), said.stat("bytes_accessed")),
            (number(&seen["executions"]), said.stat("blocks")),
            (number(&seen["waiting_ns"]), said.waiting),
            (number(&seen["bytes"]), said.stat("bytes_accessed")),
        ] {
            ensure!(found == Some(total), "{name}: {found:?}, not {total}: {seen}");
        }
        for (kind, count) in said.stats["tasks"].as_object().context("tasks")? {
            let row = kinds.iter().find(|row| row[0] == kind[..]);
            let found = row.map_or(Some(0), |row| row[1].as_u64());
            ensure!(found == count.as_u64(), "{name} {kind}: {kinds:?}");
        }
        let synchronised = &seen["synchronised"][0];
        ensure!(name != "queue.c" || synchronised.as_u64() > Some(1000), "{synchronised}");
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
