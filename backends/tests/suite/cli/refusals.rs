//! What is refused, and what is said of damaged, incomplete and empty graphs.

use std::fs;

use taskgraph::{MemOp, Note, NoteKind, SyncOp};

use crate::folder::Folder;
use crate::samples::{builder, write};

#[test]
fn options_that_make_no_sense_are_refused_with_the_reason() {
    let folder = Folder::new();
    for (line, reason) in [
        ("cache two.tg --sizes 8K..1K", "reversed"),
        ("cache two.tg --sizes 0", "is zero"),
        ("misses two.tg --sizes 32M..1M", "reversed"),
        ("misses two.tg --sizes 1K --ways 64", "more than the 16 lines"),
        ("misses two.tg --sizes 0", "is zero"),
        ("races two.tg --memory 0", "is zero"),
        ("predict two.tg --processors 0", "not a list of numbers"),
        ("predict two.tg --processors 8..2", "not a list of numbers"),
        ("diff two.tg", "AFTER"),
        ("diff two.tg none.tg", "none.tg"),
        ("sharing two.tg --line 256", "a line is 8, 16"),
        ("memuse two.tg --points 0", "0"),
        ("cache two.tg --sizes 12Q", "not a size"),
        ("cache two.tg --sizes 1K --ways 32", "more than the 16 lines"),
        ("cache two.tg --ways 0", "not a number of ways"),
        ("cache two.tg --sample 2", "not a share of the lines"),
        ("cache two.tg --line 48", "power of two"),
        ("cache two.tg --shared --private", "cannot be used with"),
        ("parallelism two.tg --points 0", "0"),
        ("blocks two.tg --top 0", "0"),
        ("export two.tg", "say which form: --perfetto, --folded"),
        ("dump two.tg", "--tasks"),
        ("dump two.tg --tasks --edges", "cannot be used with"),
        ("dump two.tg --accesses 5", "not a task id"),
        ("dump two.tg --accesses 7:0", "no context 7"),
        ("dump two.tg --accesses 0:99", "no task 0:99"),
        ("dump two.tg --blocks 7:*", "no context 7"),
        ("stats two.tg --format xml", "xml"),
        ("stats two.tg --no-such-option", "--no-such-option"),
        ("no-such-analysis two.tg", "no-such-analysis"),
        ("stats", "there is no graph.tg in this folder"),
    ] {
        let message = folder.fails(line);
        assert!(message.contains(reason), "{line}: {message}");
    }
}

#[test]
fn a_file_that_is_no_graph_is_named() {
    let folder = Folder::new();
    fs::write(folder.path("empty.tg"), "").unwrap();
    fs::write(folder.path("text.tg"), "not a graph at all\n".repeat(20)).unwrap();
    let whole = fs::read(folder.path("two.tg")).unwrap();
    fs::write(folder.path("cut.tg"), &whole[..whole.len() - 20]).unwrap();
    for analysis in ["stats", "parallelism", "blocks", "cache", "verify", "report"] {
        for name in ["missing.tg", "empty.tg", "text.tg", "cut.tg"] {
            let message = folder.fails(&format!("{analysis} {name}"));
            assert!(message.contains(name), "{analysis}: {message}");
        }
        let message = folder.fails(&format!("{analysis} missing.tg"));
        let times = message.matches("No such file").count();
        assert_eq!(times, 1, "{analysis}: {message}");
    }
    for name in ["missing.tg", "empty.tg", "text.tg", "cut.tg"] {
        for form in ["perfetto", "folded", "callgrind", "parquet"] {
            let message = folder.fails(&format!("export {name} --{form} out"));
            assert!(message.contains(name), "{form}: {message}");
            assert!(!folder.path("out").exists(), "{form}");
        }
        // What workers read is what was planned.
        let planned = format!("shard plan {name}.p --workers 2 --graph {name} cache");
        let message = match name {
            "missing.tg" => folder.fails(&planned),
            _ => {
                folder.ok(&planned);
                folder.fails(&format!("shard run {name}.p 1"))
            }
        };
        assert!(message.contains(name), "{message}");
        assert!(!folder.path(&format!("{name}.p/1.share")).exists());
    }
}

#[test]
fn no_result_replaces_a_graph() {
    let folder = Folder::new();
    let before = fs::read(folder.path("two.tg")).unwrap();
    for line in [
        "stats two.tg --output two.tg",
        "export two.tg --callgrind two.tg",
        "export two.tg --folded two.tg",
        "report two.tg --output two.tg",
    ] {
        let message = folder.fails(line);
        assert!(
            message.contains("two.tg is a graph or a trace: give another name"),
            "{line}: {message}"
        );
        assert_eq!(fs::read(folder.path("two.tg")).unwrap(), before, "{line}");
    }
    let message = folder.fails("export two.tg --folded a --otf2 a");
    assert!(message.contains("--folded and --otf2 have the same file, a"), "{message}");
}

#[test]
fn an_incomplete_recording_is_announced_everywhere() {
    let folder = Folder::new();
    let mut b = builder("./cut");
    b.meta_mut().complete = false;
    b.meta_mut().lost_bytes = 2048;
    b.meta_mut().notes.push(Note::new(NoteKind::Remark, "1 thread appeared unannounced"));
    let block = b.block("main", "main.c", 3, &[MemOp::load(8)]);
    let main = b.context("main");
    b.work(main, 0, 10, |w| w.block(block, &[0x1000]));
    write(b, &folder.path("cut.tg"));
    let names = OTHERS.into_iter().chain(OF_ACCESSES).map(|name| format!("{name} cut.tg"));
    for line in names.chain(["stats cut.tg --format json".to_owned()]) {
        let output = folder.run(&line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        for stream in [output.stdout, output.stderr] {
            let text = String::from_utf8(stream).unwrap();
            assert!(text.contains("recording is incomplete"), "{line}: {text}");
            assert!(text.contains("2.00 KiB of the trace are lost"), "{line}: {text}");
            assert!(text.contains("1 thread appeared unannounced"), "{line}: {text}");
        }
    }
}

/// What analyses of accesses say of a graph that has none.
const OF_ACCESSES: [&str; 6] = ["blocks", "cache", "races", "misses", "sharing", "memuse"];
const OTHERS: [&str; 5] = ["stats", "parallelism", "critpath", "workspan", "report"];

#[test]
fn a_graph_without_accesses_is_refused_where_they_are_needed() {
    let folder = Folder::new();
    let mut b = builder("./sync");
    let main = b.context("main");
    b.work(main, 0, 10, |_| {});
    b.sync(main, 0x10, SyncOp::MutexLock);
    write(b, &folder.path("sync.tg"));
    write(builder("./nothing"), &folder.path("nothing.tg"));
    for analysis in OF_ACCESSES {
        for (graph, said) in [("sync.tg", "sync mode"), ("nothing.tg", "nothing was recorded")] {
            let message = folder.fails(&format!("{analysis} {graph}"));
            assert!(message.contains(said) && message.contains(analysis), "{analysis}: {message}");
        }
    }
    for analysis in ["stats", "parallelism", "critpath", "workspan"] {
        folder.ok(&format!("{analysis} sync.tg"));
    }
    let page = folder.ok("report sync.tg");
    assert!(page.contains("recorded in sync mode?"), "no reason given");
    folder.ok("report nothing.tg -o page.html");
}

#[test]
fn output_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    for analysis in OF_ACCESSES.into_iter().chain(OTHERS) {
        for place in ["no/such/folder/out", "/proc/out"] {
            let message = folder.fails(&format!("{analysis} two.tg -o {place}"));
            assert!(message.contains(place), "{analysis}: {message}");
        }
    }
    for form in ["perfetto", "folded", "callgrind"] {
        let message = folder.fails(&format!("export two.tg --{form} /dev/full"));
        assert!(message.contains("cannot write /dev/full: "), "{form}: {message}");
        assert!(message.contains("No space left"), "{form}: {message}");
    }
    // What cannot be written whole is not there.
    let tables = "export two.tg --accesses --parquet tables";
    let message = folder.full(1, tables);
    assert!(message.contains("cannot write tables"), "{message}");
    assert!(message.contains("File too large"), "{message}");
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 1);
    assert!(folder.run(tables).status.success());
    let message = folder.fails(tables);
    assert!(message.contains("exists and is not an empty folder"), "{message}");
}
