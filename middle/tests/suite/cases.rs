//! The rules as texts, in `tests/cases`: what is recorded, and the graph that it becomes.
//!
//! A case is a title (`# ...`), a script, `--`, and the graph. A line of the script is `CONTEXT
//! OPERATION [OBJECT [NUMBER]]` with the operation's name in the table of operations; numbers may
//! be memory orders. Besides, there is `threads N`, which creates the contexts 1 to N, and what
//! [`Script::line`] lists. Contexts that were created and have not ended are joined at the end of
//! the script. `CONTECH_BLESS=1` writes the graphs as they are now into the files.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use contech_trace::event::{EndReason, Event, SyncOp};
use taskgraph::Context;

use crate::graph::{Converted, convert_with, fine, tasks};
use crate::trace::TraceBuilder;

/// A trace in the making.
struct Script {
    trace: TraceBuilder,
    objects: HashMap<String, u64>,
    /// By context and condition: the condition's ticket when the wait began.
    waits: HashMap<(u32, u64), u64>,
    /// Contexts that run.
    open: Vec<u32>,
}

impl Script {
    fn trace(script: &str) -> Vec<u8> {
        let mut this = Script {
            trace: TraceBuilder::new(),
            objects: HashMap::new(),
            waits: HashMap::new(),
            open: vec![0],
        };
        for line in script.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            this.line(&words).unwrap_or_else(|| panic!("{line:?} says nothing"));
        }
        for child in this.open.clone().into_iter().filter(|c| *c > 0) {
            this.trace.join(0, child);
        }
        if this.open.contains(&0) {
            this.trace.end(0);
        }
        this.trace.finish()
    }

    fn line(&mut self, words: &[&str]) -> Option<()> {
        let (first, rest) = words.split_first()?;
        if *first == "threads" {
            let children: u32 = rest.first()?.parse().ok()?;
            (1..=children).for_each(|child| self.create(0, child));
            return Some(());
        }
        let context: u32 = first.parse().ok()?;
        let (what, rest) = rest.split_first()?;
        let number = |at: usize| rest.get(at).map_or(Some(0), |text| number(text));
        let t = &mut self.trace;
        match *what {
            "work" => t.work(context),
            "create" => self.create(context, u32::try_from(number(0)?).ok()?),
            "join" => {
                let child = u32::try_from(number(0)?).ok()?;
                t.join(context, child);
                self.open.retain(|c| *c != child);
            }
            // It was announced by a region or a task.
            "start" => t.start(context),
            "appears" => t.start_as(context, false),
            "end" => {
                t.end(context);
                self.open.retain(|c| *c != context);
            }
            // The program ends, but it had left its scope.
            "left" => {
                t.end_as(context, EndReason::Left);
                self.open.retain(|c| *c != context);
            }
            // It has no end.
            "stays" => self.open.retain(|c| *c != context),
            "delay" => {
                let (before, duration) = (t.tick(), number(0)?);
                t.event(context, Event::Delay { before, duration });
                t.clock += duration;
            }
            "lost" => t.event(context, Event::Lost { bytes: number(0)? }),
            // A condition wait begins.
            "waits" => {
                let object = self.object(rest)?;
                let ticket = self.trace.last_ticket(object);
                self.waits.insert((context, object), ticket);
            }
            // An operation with the ticket of the one before.
            "again" => {
                let (op, object) = (op(rest.first()?)?, self.object(&rest[1..])?);
                let ticket = self.trace.last_ticket(object);
                self.trace.sync_at(context, op, object, ticket, 0);
            }
            name => {
                let (op, object) = (op(name)?, self.object(rest)?);
                let since = self.waits.get(&(context, object));
                let aux = since.copied().map_or_else(|| number(1), Some)?;
                self.trace.sync_aux(context, op, object, aux);
            }
        }
        Some(())
    }

    fn create(&mut self, parent: u32, child: u32) {
        self.trace.create(parent, child);
        self.open.push(child);
    }

    /// The object a line names: a number as it is, names by first appearance.
    fn object(&mut self, words: &[&str]) -> Option<u64> {
        let name = words.first()?;
        let next = 0x1000 * (self.objects.len() as u64 + 1);
        name.parse().ok().or_else(|| Some(*self.objects.entry((*name).to_owned()).or_insert(next)))
    }
}

fn op(name: &str) -> Option<SyncOp> {
    SyncOp::ALL.iter().copied().find(|op| op.name() == name)
}

fn number(text: &str) -> Option<u64> {
    let orders = ["relaxed", "consume", "acquire", "release", "acq_rel"];
    let order = orders.iter().position(|order| *order == text);
    order.map_or_else(|| text.parse().ok(), |n| Some(n as u64))
}

/// Tasks and edges, what is unusual about contexts, and the notes.
fn shown(c: &Converted) -> String {
    let mut out = tasks(&c.graph);
    for context in c.graph.contexts().skip(1) {
        for (flag, no, yes) in [
            (Context::ANNOUNCED, "not announced", ""),
            (Context::JOINED, "not joined", ""),
            (Context::CUT, "", "cut"),
        ] {
            let said = if context.flags & flag == 0 { no } else { yes };
            if !said.is_empty() {
                writeln!(out, "context {}: {said}", context.id).unwrap();
            }
        }
    }
    for note in &c.summary.notes {
        writeln!(out, "note: {note}").unwrap();
    }
    if !c.summary.complete {
        writeln!(out, "incomplete, {} bytes lost", c.summary.lost_bytes).unwrap();
    }
    out
}

#[test]
fn the_rules_make_the_edges_that_the_cases_say() {
    let bless = std::env::var_os("CONTECH_BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let (mut count, mut wrong) = (0, String::new());
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut now = Vec::new();
        for case in text.split("# ").filter(|case| !case.is_empty()) {
            let (title, body) = case.split_once('\n').unwrap();
            let (script, expected) = body.split_once("--\n").unwrap_or((body, ""));
            let (script, expected) = (script.trim_end(), expected.trim_end());
            let trace = Script::trace(script);
            let converted = convert_with(trace, &fine()).unwrap();
            let got = shown(&converted);
            let barriers = got.lines().filter(|line| line.contains(" barrier ")).count();
            assert_eq!(converted.summary.tasks.barrier, barriers as u64, "{title}");
            if got.trim_end() != expected {
                writeln!(wrong, "{}: {title}\n{got}instead of\n{expected}\n", path.display())
                    .unwrap();
            }
            now.push(format!("# {title}\n{script}\n--\n{got}"));
            count += 1;
        }
        if bless {
            std::fs::write(&path, now.join("\n")).unwrap();
        }
    }
    assert!(count > 0);
    assert!(bless || wrong.is_empty(), "\n{wrong}");
}
