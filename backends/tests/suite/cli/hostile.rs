//! Names that would do something where they are shown: to a terminal, a spreadsheet, a viewer of
//! profiles or a browser.
//!
//! What is shown depends on what is slow, so all of the sample's names are hostile, and all outputs
//! are made.

use std::fs;
use std::process::Output;

use taskgraph::builder::GraphBuilder;
use taskgraph::{Note, NoteKind};

use crate::folder::Folder;
use crate::samples::{two, write};

/// Begins as a formula, colours, sets a title, rings, goes back, begins lines, and ends the page's
/// script.
const NAME: &str = "=cmd|' /C calc'!A0\u{1b}[31m\u{1b}]0;title\u{7}\rback\nforged 99\n;semi\tt\u{9b}5m\u{202e}</script><svg onload=alert(1)>";

fn hostile() -> GraphBuilder {
    let mut b = two();
    let info = b.info_mut();
    for (number, function) in info.functions.iter_mut().enumerate() {
        function.name = format!("{NAME}{number}");
    }
    info.files = info.files.iter().map(|_| format!("{NAME}.c")).collect();
    for module in &mut info.modules {
        module.name = NAME.to_owned();
    }
    for block in &mut info.blocks {
        if let Some(call) = &mut block.call {
            call.callee = NAME.to_owned();
        }
    }
    let meta = b.meta_mut();
    meta.command = vec![NAME.to_owned(), NAME.to_owned()];
    meta.host = NAME.to_owned();
    meta.complete = false;
    meta.notes = vec![Note::new(NoteKind::Loss, NAME)];
    b
}

fn folder() -> Folder {
    let folder = Folder::new();
    write(hostile(), &folder.path("h.tg"));
    folder
}

/// What was printed, which does nothing to a terminal.
fn plain(line: &str, bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).expect(line);
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
    let at = text.find(acts).map(|at| text[..at].lines().last());
    assert_eq!(at, None, "{line}");
    text
}

fn run(folder: &Folder, line: &str) -> String {
    let Output { stdout, stderr, .. } = folder.run(line);
    let said = plain(line, &stderr);
    assert!(!said.starts_with("contech-backend: "), "{line}: {said}");
    plain(line, &stdout)
}

/// The commands that make something of one graph.
fn commands(folder: &Folder) -> Vec<String> {
    let list = folder.ok("--list");
    let names = list.lines().filter_map(|line| line.split(' ').next());
    let others = ["profile", "export", "dump", "shard", "diff", "report"];
    let one = names.filter(|name| !others.contains(name));
    let mut commands: Vec<String> = one.map(|name| format!("{name} h.tg")).collect();
    commands.push("dump h.tg --blocks 0:*".to_owned());
    commands.push("dump h.tg --tasks".to_owned());
    commands.push("diff two.tg h.tg".to_owned());
    commands
}

#[test]
fn a_terminal_shows_names_and_obeys_none() {
    let folder = folder();
    for command in commands(&folder) {
        let text = run(&folder, &command);
        let forged = text.lines().find(|line| line.starts_with("forged"));
        assert_eq!(forged, None, "{command}: a name is one line");
    }
    let dumped = run(&folder, "dump h.tg --blocks 0:*");
    assert!(dumped.contains("A0\\u001b[31m\\u001b]0;title\\u0007\\u000dback\\u000aforged"));
    let refused = folder.run("stats \u{1b}[31m.tg");
    assert!(plain("refused", &refused.stderr).contains("\\u001b[31m.tg"));
}

#[test]
fn json_has_names_as_they_are() {
    let folder = folder();
    for command in commands(&folder) {
        let text = run(&folder, &format!("{command} --format json"));
        serde_json::from_str::<serde_json::Value>(&text).expect(&command);
    }
    let text = run(&folder, "blocks h.tg --format json");
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let name = value["blocks"][0]["function"].as_str().unwrap();
    assert!(name.starts_with(NAME), "{name:?}");
}

#[test]
fn a_spreadsheet_computes_nothing() {
    let folder = folder();
    let mut words = 0;
    for command in commands(&folder) {
        if command.starts_with("verify") {
            continue;
        }
        let text = run(&folder, &format!("{command} --format csv"));
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        for record in reader.records() {
            for field in &record.expect(&command) {
                let formula = field.starts_with(['=', '+', '-', '@']);
                assert!(!formula || field.parse::<f64>().is_ok(), "{command}: {field}");
                words += u32::from(field.starts_with("'=cmd"));
            }
        }
    }
    assert!(words > 0, "no name is in a table");
}

#[test]
fn exports_have_a_line_for_each_stack_and_nothing_for_a_terminal() {
    let folder = folder();
    for form in ["folded", "callgrind"] {
        run(&folder, &format!("export h.tg --{form} -"));
    }
    for weight in ["work", "span", "wait", "misses"] {
        let text = run(&folder, &format!("export h.tg --folded - --weight {weight}"));
        for line in text.lines() {
            let (stack, number) = line.rsplit_once(' ').expect(line);
            assert!(number.parse::<u64>().is_ok(), "{weight}: {line}");
            assert!(!stack.starts_with("forged") && !stack.contains(";semi"), "{line}");
        }
    }
    let text = run(&folder, "export h.tg --callgrind -");
    assert!(text.lines().all(|line| !line.starts_with("forged")));
    run(&folder, "export h.tg --otf2 archive");
}

#[test]
fn a_page_runs_no_script_of_a_name() {
    let folder = folder();
    run(&folder, "report h.tg -o page.html");
    let page = plain("page", &fs::read(folder.path("page.html")).unwrap());
    assert!(!page.contains("<svg onload") && page.contains("svg onload=alert(1)"));
    run(&folder, "report h.tg --format json");
}
