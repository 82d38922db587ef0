//! The report, and the page of `contech scale`, in a browser: the script runs to the end without an
//! error and draws every section. Needs Chromium (Debian's package `chromium`; `cargo test-all`
//! installs it).

use std::path::Path;
use std::process::Command;

use crate::graphs;
use crate::samples::{builder, many, nothing, single, two};
use crate::scale::observation;
use contech_backends::laboratory;
use contech_backends::report::render;
use contech_backends::scaling::{Activity, Measurement, Point, analyse, named};
use taskgraph::SyncOp;
use taskgraph::builder::GraphBuilder;

/// The document that a browser made of a page.
struct Seen(String);

impl Seen {
    /// What a script of the test noted.
    fn noted(&self) -> &str {
        let (_, rest) = self.0.split_once("data-seen=\"").expect("a note");
        rest.split_once('"').map_or(rest, |(this, _)| this)
    }

    /// Markup of one section.
    fn section(&self, id: &str) -> &str {
        let section = self.0.split_once(&format!("<section id=\"{id}\""));
        let (_, rest) = section.unwrap_or_else(|| panic!("section {id}"));
        rest.split_once("</section>").map_or(rest, |(this, _)| this)
    }
}

/// Opens all sections: a plot is drawn where it is seen.
const UNFOLD: &str = "document.querySelectorAll('details').forEach(one => { one.open = true; });";

/// The page of a graph, with a script of the test's own.
fn page_of(graph_of: GraphBuilder, script: &str) -> String {
    render(&graphs::page(graph_of)).expect("a page") + "<script>" + script + "</script>"
}

/// What a browser makes of a page, whose scripts have nothing to complain of; `address` is what
/// follows the name of the page.
fn browse(page: &str, address: &str) -> Seen {
    browse_in(1280, page, address)
}

const OPTIONS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --disable-dev-shm-usage --enable-logging=stderr --virtual-time-budget=4000 --dump-dom";

/// The same in a window so wide.
fn browse_in(width: u32, page: &str, address: &str) -> Seen {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("page.html");
    std::fs::write(&path, page).expect("written");
    let output = Command::new("chromium")
        .args(OPTIONS.split_whitespace())
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("--window-size={width},2000"))
        .arg(format!("file://{}#{address}", path.display()))
        .output()
        .expect("chromium runs: Debian's package `chromium`, installed by `cargo test-all`");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "chromium: {}: {log}", output.status);
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert_eq!(complaints, [] as [&str; 0], "{address}, {width}");
    Seen(String::from_utf8(output.stdout).expect("utf-8"))
}

const SECTIONS: &str =
    "parallelism blocks cache critpath workspan factors misses sharing races memuse";

#[test]
fn every_section_draws_something_without_an_error() {
    for (name, graph, theme) in [("two", two(), "light"), ("many", many(256, 4), "dark")] {
        let seen = browse(&page_of(graph, UNFOLD), theme);
        assert!(seen.0.contains(&format!("data-theme=\"{theme}\"")));
        for section in SECTIONS.split(' ') {
            let markup = seen.section(section);
            assert!(
                markup.contains("<path") || markup.contains("<td"),
                "{name}: {section} has neither a curve nor a table: {markup}"
            );
        }
        assert!(seen.section("parallelism").contains("<svg"), "{name}");
        assert!(seen.section("sharing").contains("<svg"), "{name}: matrix");
        let flames = seen.section("workspan").matches("class=\"flames\"").count();
        assert_eq!(flames, 2, "{name}: by work and by span");
        assert!(seen.0.contains("<span class=\"meter\">"));
        assert!(seen.0.contains("class=\"whole\""), "{name}: the bar");
        for section in SECTIONS.split(' ') {
            let (_, heading) = seen.section(section).split_once("<h2").expect("a heading");
            let heading = heading.split(['>', '<']).nth(1).expect("words");
            let entry = format!("<a href=\"#{section}\">{heading}</a>");
            assert!(seen.0.contains(&entry), "{name}: {entry}");
        }
    }
}

#[test]
fn one_context_and_no_context_at_all_are_said_and_not_drawn() {
    let seen = browse(&page_of(single(), UNFOLD), "light");
    assert!(seen.section("sharing").contains("shares nothing"));
    assert!(seen.section("misses").contains("<path"));

    let seen = browse(&page_of(nothing(), UNFOLD), "dark");
    for section in ["parallelism", "blocks", "cache", "misses"] {
        let markup = seen.section(section);
        assert!(!markup.contains("<path"), "{section} draws nothing");
        assert!(
            markup.contains("class=\"empty\"") || markup.contains("class=\"quiet\""),
            "{section} says so: {markup}"
        );
    }
}

/// A measurement with one thread and with `threads`.
fn measurement(threads: u32) -> Measurement {
    let point = |threads: u32| {
        let observation = observation(threads.into());
        Point {
            threads,
            runs: vec![named(&observation.run, |_| 0); 3],
            activity: Some(Activity::of(observation)),
            ..Point::default()
        }
    };
    Measurement {
        command: vec!["./prog".to_owned(), "{threads}".to_owned()],
        cpus: 128,
        points: vec![point(1), point(threads)],
        ..Measurement::default()
    }
}

#[test]
fn a_measured_program_is_drawn_with_two_and_with_a_hundred_threads() {
    for (threads, theme) in [(2, "light"), (100, "dark")] {
        let report = analyse(measurement(threads), Default::default(), Default::default());
        let page = laboratory::render(&report).expect("a page");
        assert!(page.len() < 3 << 20, "{threads}: {} bytes", page.len());
        let seen = browse(&page, theme);
        assert!(seen.0.contains(&format!("data-theme=\"{theme}\"")));
        assert_eq!(seen.section("speedups").matches("class=\"curve\"").count(), 5);
        for section in ["factors", "stacks"] {
            let markup = seen.section(section);
            assert!(markup.contains("<rect") && markup.contains("<td"), "{section}");
        }
        let activity = seen.section("activity");
        assert_eq!(activity.matches("<svg").count(), 2, "one for each number of threads");
        assert!(activity.contains("<path"), "{activity}");
        assert!(seen.0.contains("<span class=\"meter\">"));
    }
}

/// Presses keys in the first plot and notes after each what a reader sees: the text of the tip, and
/// whether there is something to reset.
const PRESS: &str = r##"
addEventListener("load", () => setTimeout(() => {
  document.querySelector("#parallelism details").open = true;
}, 100));
addEventListener("load", () => setTimeout(() => {
  const plot = document.querySelector("#timeline .plot");
  const [drawing, tip] = [plot.querySelector("svg"), plot.querySelector(".tip")];
  const reset = [...plot.querySelectorAll("button")].find(b => b.textContent === "Reset zoom");
  drawing.focus();
  const seen = [String(document.activeElement === drawing)];
  for (const [key, times] of [["ArrowRight", 1], ["ArrowRight", 100], ["+", 1], ["0", 1], ["Escape", 1], ["Tab", 1]]) {
    let free;
    for (let i = 0; i < times; i++) free = drawing.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    seen.push([key, tip.hidden ? "" : tip.textContent, reset.hidden ? "" : "zoomed", free ? "free" : ""].join(";"));
  }
  document.body.dataset.seen = seen.join("|");
}, 500));
"##;

#[test]
fn a_plot_is_read_and_zoomed_with_the_keyboard() {
    let seen = browse(&page_of(two(), PRESS), "light");
    let steps: Vec<Vec<&str>> =
        seen.noted().split('|').map(|step| step.split(';').collect()).collect();
    assert_eq!(steps[0], ["true"], "a plot takes the focus");
    let [first, second, closer, all, closed, tab] = &steps[1..] else {
        panic!("{steps:?}");
    };
    assert!(!first[1].is_empty() && !second[1].is_empty(), "{steps:?}");
    assert_ne!(first[1], second[1], "the cursor moves");
    assert_eq!((first[2], closer[2], all[2]), ("", "zoomed", ""));
    assert_eq!(closed[1], "", "Escape closes the tip");
    assert_eq!((first[3], tab[3]), ("", "free"), "Tab leaves the plot");
}

#[test]
fn a_finding_leads_to_its_stretch_of_the_lanes_and_a_word_to_the_glossary() {
    const SCRIPT: &str = "document.querySelector('#findings .when').click();";
    let seen = browse(&page_of(two(), SCRIPT), "light");
    let head = seen.section("answer");
    assert!(head.contains("class=\"lost\""), "marks above the lanes");
    assert!(head.contains("The strip above the rows: what was lost to"));
    assert!(head.contains("href=\"#term-critical-path\""), "a link");
    assert!(seen.section("glossary").contains("id=\"term-context\""));
    let plain = browse(&page_of(two(), UNFOLD), "light");
    assert!(!plain.0.contains("class=\"lost\""));
}

/// A file of a program's source.
fn source(folder: &Path) -> String {
    let source = folder.join("work.c").display().to_string();
    std::fs::write(&source, "int x;\nvoid work(void) {\n  x += 1; // here\n}\n").expect("written");
    source
}

/// A program whose source is there: one of three threads waits for the lock that the first has,
/// which then waits for its end.
fn with_source(folder: &Path) -> GraphBuilder {
    let source = source(folder);
    let mut b = builder("./work");
    let block = b.block("work", &source, 3, &[]);
    let main = b.context("main");
    b.work(main, 0, 1_000_000, |w| w.block(block, &[]));
    let unlock = b.sync_at(main, 8, SyncOp::MutexUnlock, 1_000_000, 1_000_000);
    let other = b.context("helper");
    b.work(other, 0, 1000, |w| w.block(block, &[]));
    let lock = b.sync_at(other, 8, SyncOp::MutexLock, 1000, 1_000_000);
    b.edge(unlock, lock);
    b.work(other, 1_000_000, 2_000_000, |w| w.block(block, &[]));
    let third = b.context("third");
    b.work(third, 0, 1_000_000, |w| w.block(block, &[]));
    b.join(main, other);
    b
}

/// Points at the second lane of three, notes the tip, and clicks there.
const POINT: &str = r##"
addEventListener("load", () => setTimeout(() => {
  const drawing = document.querySelector("#lanes svg");
  const box = drawing.getBoundingClientRect();
  const axis = drawing.querySelector(".axis");
  const [left, right] = ["x1", "x2"].map(name => Number(axis.getAttribute(name)));
  const bottom = Number(axis.getAttribute("y1"));
  const at = { clientX: box.left + left + (right - left) / 4, clientY: box.top + 8 + (bottom - 8) / 2, bubbles: true, button: 0, pointerId: 1 };
  drawing.setPointerCapture = () => {};
  const send = name => drawing.dispatchEvent(new PointerEvent(name, at));
  send("pointermove");
  const tip = document.querySelector("#lanes .tip").textContent;
  send("pointerdown");
  send("pointerup");
  const row = document.querySelector("tr.shown");
  document.body.dataset.seen = [tip, row?.closest("section").id, row?.textContent, row?.closest("details").open].join("|");
}, 500));
"##;

#[test]
fn a_lane_says_what_its_thread_does_and_waits_for_and_leads_to_the_line() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let seen = browse(&page_of(with_source(folder.path()), POINT), "light");
    let noted: Vec<&str> = seen.noted().split('|').collect();
    let [tip, section, row, open] = noted[..] else {
        panic!("{noted:?}");
    };
    for words in [
        "1 helper",
        "lock: waits for a lock",
        "in work (work.c:3)",
        "until main, in work (work.c:3)",
    ] {
        assert!(tip.contains(words), "{words}: {tip}");
    }
    assert_eq!((section, open), ("source", "true"));
    assert!(row.starts_with('3') && row.contains("x += 1;"), "{row}");
}

#[test]
fn a_finding_has_its_code_beside_it_and_the_sections_are_folded() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let source = source(folder.path());
    let mut b = builder("./work");
    let block = b.block("work", &source, 3, &[]);
    let own = b.block("own", &source, 1, &[]);
    let main = b.context("main");
    let work = |b: &mut GraphBuilder, context, [from, to]: [u64; 2], block| {
        b.work(context, from * 1_000_000, to * 1_000_000, |w| {
            // A thread that executes next to nothing for so long has no processor.
            (0..100_000).for_each(|_| w.block(block, &[]));
        });
    };
    work(&mut b, main, [0, 1], own);
    let other = b.create(main);
    b.sync_at(main, 7, SyncOp::MutexLock, 1_000_000, 1_000_000);
    work(&mut b, main, [1, 9], block);
    let freed = b.sync_at(main, 7, SyncOp::MutexUnlock, 9_000_000, 9_000_000);
    work(&mut b, main, [9, 10], own);
    work(&mut b, other, [1, 2], own);
    let taken = b.sync_at(other, 7, SyncOp::MutexLock, 2_000_000, 9_000_000);
    b.edge(freed, taken);
    work(&mut b, other, [9, 15], own);
    b.join(main, other);
    b.meta_mut().processors = 2;
    // The file is not taken for one that was changed since the run.
    b.meta_mut().start_unix_ns = 0;
    let seen = browse(&page_of(b, ""), "dark");
    let answer = seen.section("answer");
    assert!(answer.contains("class=\"excerpt\""), "{answer}");
    assert!(answer.contains("x += 1; // here"), "{answer}");
    assert!(answer.contains("class=\"here\""), "{answer}");
    let (_, rest) = seen.0.split_once("<main>").expect("a page");
    assert!(!rest.contains("<details open"), "folded");
}

/// Searches for a function, follows the first result, and sorts a table twice.
const SEARCH: &str = r##"
addEventListener("load", () => setTimeout(() => {
  const search = document.querySelector("#search");
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
  const focused = document.activeElement === search;
  search.value = "work";
  search.dispatchEvent(new Event("input"));
  const found = document.querySelectorAll("#found button").length;
  search.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  const row = document.querySelector("tr.shown");
  const head = () => document.querySelector("#levels th");
  const first = () => [...document.querySelectorAll("#levels tbody tr")].map(tr => tr.cells[0].textContent).join();
  const orders = [];
  for (let i = 0; i < 2; i += 1) { head().querySelector("button").click(); orders.push(`${head().getAttribute("aria-sort")} ${first()}`); }
  document.body.dataset.seen = [focused, found > 0, row?.textContent.includes("work"), row?.closest("details").open, ...orders].join("|");
}, 500));
"##;

#[test]
fn rows_are_found_by_words_and_sorted_by_columns() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let graph = with_source(folder.path());
    let seen = browse(&page_of(graph, SEARCH), "light");
    let expected = "true|true|true|true|descending 3,2,1|ascending 1,2,3";
    assert_eq!(seen.noted(), expected);
}

#[test]
fn the_address_has_the_zoom_and_no_window_is_too_narrow() {
    const ZOOM: &str = r##"
addEventListener("load", () => setTimeout(() => {
  document.querySelectorAll("details").forEach(one => { one.open = true; });
  const drawing = document.querySelector("#lanes svg");
  const ticks = () => drawing.querySelector("text").textContent;
  const before = ticks();
  drawing.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true, cancelable: true }));
  const wide = document.documentElement.scrollWidth > innerWidth;
  document.body.dataset.seen = [before, location.hash, wide].join("|");
}, 500));
"##;
    let page = page_of(two(), ZOOM);
    assert!(page.len() < 300 << 10, "{} bytes", page.len());
    let mut all = Vec::new();
    for (address, width) in [("light", 1280), ("dark", 800), ("lanes=300000-400000", 500)] {
        let seen = browse_in(width, &page, address);
        let noted: Vec<String> = seen.noted().split('|').map(str::to_owned).collect();
        assert!(noted[1].starts_with("#lanes="), "{noted:?}");
        assert_eq!(noted[2], "false", "{width}: something is too wide");
        all.push(noted);
    }
    assert_eq!(all[0][0], all[1][0], "all of the run");
    assert_ne!(all[0][0], all[2][0], "the part that the address says");
}
