//! The command `contech-backend` as a user meets it: output, messages, exit status.

mod samples;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use samples::{builder, single, two, write};
use serde_json::Value;
use taskgraph::{MemOp, SyncOp};
use tempfile::TempDir;

/// A folder with the graph of [`two`].
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        write(two(), &folder.path("two.tg"));
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `contech-backend` with the words of `line`, in the folder.
    fn run(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_contech-backend"));
        command
            .current_dir(self.0.path())
            .args(line.split_whitespace())
            .stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Standard output of a run that succeeds silently.
    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{line}: {output:?}"
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// The message of a run that fails with exit status 1 and prints nothing else.
    fn fails(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
        assert!(output.stdout.is_empty(), "{line}: {output:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.starts_with("contech-backend: "), "{message}");
        message
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }
}

#[test]
fn the_list_names_every_analysis() {
    let list = Folder::new().ok("--list");
    for name in [
        "stats",
        "parallelism",
        "blocks",
        "cache",
        "dump",
        "verify",
        "report",
    ] {
        assert!(
            list.lines().any(|line| line.starts_with(name)),
            "{name} is not in\n{list}"
        );
    }
}

#[test]
fn json_has_the_agreed_keys() {
    let folder = Folder::new();
    let stats = folder.json("stats two.tg --format json");
    for key in [
        "contexts",
        "edges",
        "blocks",
        "accesses",
        "reads",
        "writes",
        "bytes_accessed",
        "duration_ns",
        "functions",
        "trace_bytes",
        "graph_bytes",
        "lost_bytes",
    ] {
        assert!(stats[key].is_u64(), "{key}: {stats}");
    }
    assert_eq!(
        stats["tasks"],
        serde_json::json!({"work": 8, "create": 1, "join": 1, "sync": 4, "barrier": 1})
    );
    assert_eq!(stats["complete"], true);
    assert!(stats.get("warnings").is_none());

    let parallelism = folder.json("parallelism two.tg --format json");
    assert_eq!(
        (
            parallelism["average"].as_f64(),
            parallelism["duration_ns"].as_u64()
        ),
        (Some(1.3125), Some(800_000))
    );
    assert_eq!(parallelism["potential_average"], 1.3125);
    assert_eq!(
        parallelism["steps"][1],
        serde_json::json!({"t_ns": 100_000, "running": 2})
    );

    let cache = folder.json("cache two.tg --sizes 1K..2K --ways 4,full --format json");
    let points: Vec<_> = cache["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["size"].clone(), p["ways"].clone()))
        .collect();
    assert_eq!(
        points,
        [
            (1024.into(), 4.into()),
            (2048.into(), 4.into()),
            (1024.into(), "full".into()),
            (2048.into(), "full".into())
        ]
    );
    assert_eq!(
        (
            &cache["points"][0]["accesses"],
            &cache["points"][0]["misses"]
        ),
        (&200.into(), &6.into())
    );

    let report = folder.json("report two.tg --format json");
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["rank"], &finding["cause"]),
        (&1.into(), &"dependences".into())
    );
    assert!(
        finding["where"].is_string() && finding["share"].is_f64(),
        "{finding}"
    );
    assert_eq!(folder.json("verify two.tg --format json")["valid"], true);
}

#[test]
fn text_is_aligned_and_csv_is_raw() {
    let folder = Folder::new();
    let text = folder.ok("stats two.tg");
    assert!(
        text.contains("\ncontexts") && text.contains("\n  barrier"),
        "{text}"
    );
    let csv = folder.ok("parallelism two.tg --format csv");
    assert!(csv.starts_with("t_ns,running\n0,1\n100000,2\n"), "{csv}");
    let csv = folder.ok("blocks two.tg --format csv");
    assert!(
        csv.starts_with("block,function,file,line,running,executions\n"),
        "{csv}"
    );
    assert!(csv.contains(",work,src/two.c,20,1,45\n"), "{csv}");
    let csv = folder.ok("cache two.tg --sizes 1K --ways full --format csv");
    assert_eq!(
        csv,
        "size,ways,accesses,misses,miss_rate,cold,capacity,conflict\n1024,full,200,6,0.03,6,0,0\n"
    );
}

#[test]
fn accesses_are_dumped_in_program_order() {
    let folder = Folder::new();
    assert_eq!(
        folder
            .ok("dump two.tg --accesses 0:0")
            .lines()
            .take(2)
            .collect::<Vec<_>>(),
        ["W 0x1000 8", "W 0x1008 8"]
    );
    let child = folder.ok("dump two.tg --accesses 1:*");
    assert_eq!(child.lines().count(), 2 * (5 + 20 + 10 + 20));
    assert!(
        child.starts_with("R 0x1000 8\nW 0x9000 8\nR 0x1008 8\n"),
        "{child}"
    );
    let json = folder.json("dump two.tg --accesses 0:0 --json");
    assert_eq!(
        json["accesses"][0],
        serde_json::json!({"write": true, "address": 4096, "size": 8})
    );
    assert_eq!(json["accesses"].as_array().unwrap().len(), 10);
    assert_eq!(
        folder.ok("dump two.tg --accesses 0:1"),
        "",
        "a Create task has no accesses"
    );
}

#[test]
fn tasks_edges_and_blocks_are_dumped() {
    let folder = Folder::new();
    let tasks = folder.ok("dump two.tg --tasks");
    assert_eq!(tasks.lines().count(), 15);
    assert_eq!(
        tasks.lines().next(),
        Some("0:0 work none 0x0 0 100000 10 0 10 80 -")
    );
    assert!(
        tasks.contains("\n1:1 sync mutex_lock 0xfeed 150000 300000 0 0 0 0 0:4\n"),
        "{tasks}"
    );
    let edges = folder.ok("dump two.tg --edges");
    assert_eq!(edges, "0:1 1:0\n0:4 1:1\n1:4 0:6\n0:6 1:5\n1:5 0:8\n");
    assert_eq!(
        folder.json("dump two.tg --edges --json")["edges"][0],
        serde_json::json!({"from": "0:1", "to": "1:0"})
    );
    let blocks = folder.ok("dump two.tg --blocks 1:0 --format csv");
    assert_eq!(blocks.lines().nth(1), Some("1,\"work\",\"src/two.c\",20"));
    assert_eq!(
        folder.ok("dump two.tg --blocks 1:*").lines().count(),
        6 + 20 + 11 + 20
    );
}

#[test]
fn options_that_make_no_sense_are_refused_with_the_reason() {
    let folder = Folder::new();
    for (line, reason) in [
        ("cache two.tg --sizes 8K..1K", "reversed"),
        ("cache two.tg --sizes 0", "is zero"),
        ("misses two.tg --sizes 32M..1M", "reversed"),
        (
            "misses two.tg --sizes 1K --ways 64",
            "more than the 16 lines",
        ),
        ("misses two.tg --sizes 0", "is zero"),
        ("races two.tg --memory 0", "is zero"),
        ("hierarchy two.tg --l1 1K:64", "which is not a power of two"),
        ("hierarchy two.tg --l1 1M:8 --l2 32K:8", "--l2 is smaller"),
        ("sharing two.tg --line 256", "a line is 8, 16"),
        ("memuse two.tg --points 0", "0"),
        ("cache two.tg --sizes 12Q", "not a size"),
        (
            "cache two.tg --sizes 1K --ways 32",
            "more than the 16 lines",
        ),
        ("cache two.tg --ways 0", "not a number of ways"),
        ("cache two.tg --sample 2", "not a share of the lines"),
        ("hierarchy two.tg --l1 none", "every core has a first level"),
        ("cache two.tg --line 48", "power of two"),
        ("cache two.tg --shared --private", "cannot be used with"),
        ("parallelism two.tg --points 0", "0"),
        ("blocks two.tg --top 0", "0"),
        ("dump two.tg", "--tasks"),
        ("dump two.tg --tasks --edges", "cannot be used with"),
        ("dump two.tg --accesses 5", "not a task id"),
        ("dump two.tg --accesses 7:0", "no context 7"),
        ("dump two.tg --accesses 0:99", "no task 0:99"),
        ("dump two.tg --blocks 7:*", "no context 7"),
        ("stats two.tg --format xml", "xml"),
        ("stats two.tg --no-such-option", "--no-such-option"),
        ("no-such-analysis two.tg", "no-such-analysis"),
        ("stats", "GRAPH"),
    ] {
        let message = folder.fails(line);
        assert!(message.contains(reason), "{line}: {message}");
    }
}

#[test]
fn a_preview_says_from_how_much_and_down_to_which_size_it_is_good() {
    let folder = Folder::new();
    let text = folder.ok("cache two.tg --sample 0.25");
    assert!(
        text.contains("Estimated from 25% of the lines; rough for sizes below 4.00 KiB"),
        "{text}"
    );
}

#[test]
fn a_file_that_is_no_graph_is_named() {
    let folder = Folder::new();
    fs::write(folder.path("empty.tg"), "").unwrap();
    fs::write(folder.path("text.tg"), "not a graph at all\n".repeat(20)).unwrap();
    let whole = fs::read(folder.path("two.tg")).unwrap();
    fs::write(folder.path("cut.tg"), &whole[..whole.len() - 20]).unwrap();
    for analysis in [
        "stats",
        "parallelism",
        "blocks",
        "cache",
        "verify",
        "report",
    ] {
        for name in ["missing.tg", "empty.tg", "text.tg", "cut.tg"] {
            let message = folder.fails(&format!("{analysis} {name}"));
            assert!(message.contains(name), "{analysis}: {message}");
        }
        let message = folder.fails(&format!("{analysis} missing.tg"));
        let times = message.matches("No such file").count();
        assert_eq!(times, 1, "{analysis}: {message}");
    }
}

#[test]
fn verify_finds_a_changed_byte_and_says_where() {
    let folder = Folder::new();
    let whole = fs::read(folder.path("two.tg")).unwrap();
    assert!(
        folder
            .ok("verify two.tg")
            .starts_with("valid: 15 tasks, 5 edges, ")
    );
    for at in (0..whole.len()).step_by(31) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(folder.path("damaged.tg"), damaged).unwrap();
        let message = folder.fails("verify damaged.tg");
        assert!(message.contains("damaged.tg"), "byte {at}: {message}");
    }
}

#[test]
fn an_incomplete_recording_is_announced_everywhere() {
    let folder = Folder::new();
    let mut b = builder("./cut");
    b.meta_mut().complete = false;
    b.meta_mut().lost_bytes = 2048;
    b.meta_mut()
        .notes
        .push("1 thread appeared unannounced".to_owned());
    let block = b.block("main", "main.c", 3, &[MemOp::load(8)]);
    let main = b.context("main");
    b.work(main, 0, 10, |w| w.block(block, &[0x1000]));
    write(b, &folder.path("cut.tg"));
    for line in [
        "stats cut.tg",
        "stats cut.tg --format json",
        "report cut.tg",
        "parallelism cut.tg",
        "blocks cut.tg",
        "cache cut.tg",
        "hierarchy cut.tg",
        "critpath cut.tg",
        "workspan cut.tg",
        "races cut.tg",
        "misses cut.tg",
        "sharing cut.tg",
        "memuse cut.tg",
    ] {
        let output = folder.run(line);
        assert!(
            output.status.success(),
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        for stream in [output.stdout, output.stderr] {
            let text = String::from_utf8(stream).unwrap();
            assert!(text.contains("recording is incomplete"), "{line}: {text}");
            assert!(
                text.contains("2.00 KiB of the trace are lost"),
                "{line}: {text}"
            );
            assert!(
                text.contains("1 thread appeared unannounced"),
                "{line}: {text}"
            );
        }
    }
}

/// What analyses of accesses say of a graph that has none.
const OF_ACCESSES: [&str; 7] = [
    "blocks",
    "cache",
    "hierarchy",
    "races",
    "misses",
    "sharing",
    "memuse",
];

#[test]
fn a_graph_of_synchronisation_alone_is_refused_where_accesses_are_needed() {
    let folder = Folder::new();
    let mut b = builder("./sync");
    let main = b.context("main");
    b.work(main, 0, 10, |_| {});
    b.sync(main, 0x10, SyncOp::MutexLock);
    write(b, &folder.path("sync.tg"));
    for analysis in OF_ACCESSES {
        let message = folder.fails(&format!("{analysis} sync.tg"));
        assert!(message.contains("sync mode"), "{analysis}: {message}");
        assert!(message.contains(analysis), "{analysis}: {message}");
    }
    for analysis in ["stats", "parallelism", "critpath", "workspan"] {
        folder.ok(&format!("{analysis} sync.tg"));
    }
    let page = folder.ok("report sync.tg");
    assert!(page.contains("recorded in sync mode?"), "no reason given");
}

#[test]
fn an_empty_graph_is_refused_where_accesses_are_needed() {
    let folder = Folder::new();
    write(builder("./nothing"), &folder.path("nothing.tg"));
    for analysis in OF_ACCESSES {
        let message = folder.fails(&format!("{analysis} nothing.tg"));
        assert!(message.contains("nothing was recorded"), "{message}");
    }
    folder.ok("report nothing.tg -o page.html");
}

#[test]
fn output_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    let others = ["stats", "parallelism", "critpath", "workspan", "report"];
    for analysis in OF_ACCESSES.into_iter().chain(others) {
        for place in ["no/such/folder/out", "/proc/out"] {
            let message = folder.fails(&format!("{analysis} two.tg -o {place}"));
            assert!(message.contains(place), "{analysis}: {message}");
        }
    }
}

#[test]
fn results_go_to_a_file_that_replaces_the_old_one() {
    let folder = Folder::new();
    fs::write(folder.path("out.json"), "old").unwrap();
    assert_eq!(folder.ok("stats two.tg --format json -o out.json"), "");
    let written: Value =
        serde_json::from_slice(&fs::read(folder.path("out.json")).unwrap()).unwrap();
    assert_eq!(written["contexts"], 2);
    folder.fails("stats missing.tg -o out.json");
    assert!(
        fs::read(folder.path("out.json")).unwrap().len() > 10,
        "a failure leaves the file"
    );
    let message = folder.fails("stats two.tg -o no/such/folder/out.json");
    assert!(message.contains("no/such/folder"), "{message}");
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let folder = Folder::new();
    write(single(), &folder.path("single.tg"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_contech-backend"))
        .args(["dump", "--accesses", "0:*"])
        .arg(folder.path("single.tg"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
}

/// What `contech scale --format json` writes, in short.
fn scale_json(points: &[(u32, f64)]) -> String {
    let point = |&(threads, actual): &(u32, f64)| serde_json::json!({"threads": threads, "t": 6.0 / actual, "speedup": {"linear": threads, "actual": actual}});
    let points: Vec<Value> = points.iter().map(point).collect();
    serde_json::json!({"command": ["./two"], "baseline": 6.0, "points": points}).to_string()
}

#[test]
fn measured_speedups_stand_beside_the_bounds() {
    let folder = Folder::new();
    let points = [(1, 0.96), (3, 1.2), (100, 1.25)];
    fs::write(folder.path("scale.json"), scale_json(&points)).unwrap();
    let line = "workspan two.tg --measured scale.json";
    let text = folder.ok(line);
    let row = |processors: &str| {
        let mut rows = text.lines().map(|line| line.split_whitespace());
        let row = rows.find(|row| row.clone().next() == Some(processors));
        row.map(|row| row.map(str::to_owned).collect::<Vec<_>>())
            .unwrap_or_else(|| panic!("{processors} processors in\n{text}"))
    };
    // Three is no power of two, and a hundred is beyond --p-max: they are there because they were measured.
    for (threads, actual) in points {
        let row = row(&threads.to_string());
        assert_eq!((row.len(), &row[3]), (4, &format!("{actual:.2}")));
    }
    assert_eq!(row("2").len(), 3, "not measured");
    assert!(text.contains("Measured on 100 threads: speedup 1.25, of at most 1.31"));

    let json = folder.json(&format!("{line} --format json"));
    let expected: Vec<Value> = points
        .map(|(threads, actual)| {
            serde_json::json!({"threads": threads, "t": 6.0 / actual, "speedup": {"actual": actual}})
        })
        .into();
    assert_eq!(json["measured"]["points"], Value::from(expected));
    let without = folder.json("workspan two.tg --format json");
    assert!(without.get("measured").is_none());
    assert!(!folder.ok("workspan two.tg").contains("measured"));

    let page = folder.json("report two.tg --measured scale.json --format json");
    let sections = page["sections"].as_array().unwrap();
    let section = sections.iter().find(|s| s["id"] == "workspan").unwrap();
    let parts = section["parts"].as_array().unwrap();
    let chart = parts
        .iter()
        .find(|part| part["chart"]["title"] == "Bounds of the speedup")
        .unwrap();
    let curves = chart["chart"]["series"].as_array().unwrap();
    assert_eq!(curves.len(), 4);
    assert_eq!(
        curves[3],
        serde_json::json!({"name": "measured", "points": [[1.0, 0.96], [3.0, 1.2], [100.0, 1.25]]})
    );
}

#[test]
fn a_measured_speedup_above_the_bound_is_called_that() {
    let folder = Folder::new();
    fs::write(folder.path("scale.json"), scale_json(&[(4, 3.0)])).unwrap();
    let text = folder.ok("workspan two.tg --measured scale.json");
    assert!(text.contains("more than the bound allows"), "{text}");
}

#[test]
fn a_file_without_measured_speedups_is_refused_with_what_is_wrong() {
    let folder = Folder::new();
    let save = r#"{"command":["./a"],"cpus":2,"points":[{"threads":1,"runs":[{"t_ns":5}]}]}"#;
    let zero = r#"{"baseline":1.0,"points":[{"threads":1,"t":0.0,"speedup":{"actual":1.0}}]}"#;
    let long = scale_json(&[(1, 1.0), (2, 2.0)]);
    for (content, wrong) in [
        (String::new(), "is empty"),
        (
            "threads,speedup\n1,1\n".to_owned(),
            "is no measured speedup",
        ),
        (long[..long.len() - 5].to_owned(), "is no measured speedup"),
        ("\0\u{1}\u{2}".to_owned(), "is no measured speedup"),
        (r#"{"findings":[]}"#.to_owned(), "is no measured speedup"),
        (save.to_owned(), "is no measured speedup"),
        (scale_json(&[]), "has no points"),
        (scale_json(&[(2, 1.5), (1, 1.0)]), "ascending"),
        (scale_json(&[(2, 1.5), (2, 1.6)]), "ascending"),
        (scale_json(&[(0, 1.0)]), "ascending"),
        (zero.to_owned(), "numbers above 0"),
    ] {
        fs::write(folder.path("foreign.json"), &content).unwrap();
        for command in ["workspan", "report"] {
            let message = folder.fails(&format!("{command} two.tg --measured foreign.json"));
            for part in ["foreign.json", wrong, "contech scale --format json"] {
                assert!(message.contains(part), "{part}: {message} for {content}");
            }
        }
    }
    let message = folder.fails("workspan two.tg --measured nowhere.json");
    assert!(message.contains("cannot read nowhere.json"), "{message}");
}
