//! The documents name nothing that does not exist, and the reference holds the tools' help as they
//! print it now. `CONTECH_BLESS=1 cargo test -p contech-tests --test docs` writes those parts
//! again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::outputs::{self, home, path_from, workspace};
use contech_tests::process::run;
use contech_tests::recording::{Recording, backend_json};
use contech_tests::scratch::{Scratch, entries};
use contech_tests::toolchain::Toolchain;
use serde_json::Value;

/// Options of other programs that the documents name.
const FOREIGN: [&str; 6] =
    ["--release", "--workspace", "--test", "--version", "--bin", "--example"];

/// The files below a folder that have an extension.
fn below(folder: &str, extension: &str) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![workspace().join(folder)]);
    while let Some(folder) = folders.pop() {
        for path in entries(&folder).with_context(|| folder.display().to_string())? {
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The documents for users, with their text.
fn documents() -> Result<Vec<(PathBuf, String)>> {
    let mut files = below("docs/src", "md")?;
    files.extend(["README.md", "backends/README.md"].map(|name| workspace().join(name)));
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        Ok((file, text))
    };
    files.into_iter().map(read).collect()
}

/// Texts in backquotes, and indented or fenced lines: the parts of a document that a machine reads.
fn code(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            found.push(line.trim());
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// The output of a tool that is asked as `CommandLine[ @Word]`: all of it, or from the line that
/// begins with the word.
fn said(asked: &str) -> Result<String> {
    let (line, from) = asked.split_once(" @").unwrap_or((asked, ""));
    let (tool, arguments) = line.split_once(' ').context("a tool and an option")?;
    let mut command = outputs::tool(tool);
    command.args(arguments.split(' ')).env("COLUMNS", "100");
    let said = run(&mut command)?.ok()?.out();
    let from = said.find(&format!("\n{from}")).map_or(0, |at| at + 1);
    let from = if asked.contains(" @") { from } else { 0 };
    let lines = said[from..].trim().lines().map(str::trim_end);
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// A page with the current output of the tools.
fn current(page: &str) -> Result<String> {
    const END: &str = "<!-- end -->";
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("<!-- says: ") {
        let (asked, after) = after.split_once(" -->\n").context("a mark ends its line")?;
        let (_, after) = after.split_once(END).context("a mark has an end")?;
        text += &format!("{before}<!-- says: {asked} -->\n```text\n{}\n```\n{END}", said(asked)?);
        rest = after;
    }
    Ok(text + rest)
}

#[test]
fn what_the_tools_say_of_themselves_is_in_the_documents() -> Result<()> {
    let bless = std::env::var_os("CONTECH_BLESS").is_some();
    let mut parts = 0;
    for file in below("docs/src", "md")? {
        let page = fs::read_to_string(&file)?;
        parts += page.matches("<!-- says: ").count();
        let current = current(&page)?;
        if page != current && bless {
            fs::write(&file, current)?;
        } else {
            ensure!(
                page == current,
                "{} is stale: CONTECH_BLESS=1 cargo test -p contech-tests --test docs",
                file.display()
            );
        }
    }
    ensure!(parts > 20, "only {parts} parts");
    Ok(())
}

#[test]
fn every_analysis_has_a_part_of_its_own() -> Result<()> {
    let page = fs::read_to_string(workspace().join("docs/src/reference/analyses.md"))?;
    for name in analyses()? {
        ensure!(
            page.contains(&format!("<!-- says: contech-backend {name} -h -->")),
            "{name} is not in analyses.md"
        );
    }
    Ok(())
}

fn analyses() -> Result<Vec<String>> {
    let said = run(outputs::tool("contech-backend").arg("--list"))?.ok()?.out();
    let names = said.lines().filter_map(|l| l.split_whitespace().next());
    Ok(names.map(str::to_owned).collect())
}

/// The anchor of a heading in links.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-');
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_to_a_file_and_a_heading() -> Result<()> {
    let mut links = 0;
    for (file, text) in documents()? {
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            if target.starts_with("https://") {
                continue;
            }
            links += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let to = match path {
                "" => file.clone(),
                path => file.with_file_name("").join(path),
            };
            ensure!(to.exists(), "{}: there is no {target}", file.display());
            if !heading.is_empty() {
                let there = fs::read_to_string(&to)?;
                let mut headings = there.lines().filter(|l| l.starts_with('#'));
                ensure!(
                    headings.any(|l| anchor(l.trim_start_matches('#')) == heading),
                    "{}: no heading {target}",
                    file.display()
                );
            }
        }
    }
    ensure!(links > 50, "only {links} links");
    Ok(())
}

#[test]
fn every_page_is_in_the_summary() -> Result<()> {
    let summary = fs::read_to_string(workspace().join("docs/src/SUMMARY.md"))?;
    let folder = workspace().join("docs/src");
    for file in below("docs/src", "md")? {
        let name = file.strip_prefix(&folder)?.display().to_string();
        ensure!(
            name == "SUMMARY.md" || summary.contains(&format!("]({name})")),
            "{name} is not in SUMMARY.md"
        );
    }
    Ok(())
}

#[test]
fn paths_of_the_repository_exist() -> Result<()> {
    let top = fs::read_dir(workspace())?.collect::<Result<Vec<_>, _>>()?;
    let top: BTreeSet<_> = top.iter().map(|e| e.file_name()).collect();
    let mut paths = 0;
    for (file, text) in documents()? {
        for word in code(&text) {
            let first = word.split('/').next().unwrap_or_default();
            let other = [' ', '*', ':', '(', '<'];
            let ours = word.contains('/') && top.contains(std::ffi::OsStr::new(first));
            if first == "target" || !ours || word.contains(other) {
                continue;
            }
            paths += 1;
            // The path is relative to the repository, or to the document.
            let beside = file.with_file_name("").join(word);
            ensure!(
                workspace().join(word).exists() || beside.exists(),
                "{}: there is no {word}",
                file.display()
            );
        }
    }
    ensure!(paths > 30, "only {paths} paths");
    Ok(())
}

/// The words of a text that begin with a prefix and go on with these characters.
fn words<'a>(
    text: &'a str,
    begin: &'static str,
    goes_on: fn(char) -> bool,
) -> impl Iterator<Item = &'a str> {
    text.match_indices(begin).map(move |(at, _)| {
        let rest = &text[at + begin.len()..];
        let end = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
        &text[at..at + begin.len() + end]
    })
}

fn of_a_variable(c: char) -> bool {
    c.is_ascii_uppercase() || c == '_'
}

/// The variables in quotes in the sources below these folders.
fn variables(folders: &[&str]) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for folder in folders {
        let root = workspace().join(folder);
        for file in below(folder, "rs")? {
            // A package's own tests read what only tests do.
            let inside = file.strip_prefix(&root).unwrap_or(&file);
            if *folder != "tests" && inside.components().any(|part| part.as_os_str() == "tests") {
                continue;
            }
            let text = fs::read_to_string(&file)?;
            let quoted = text.split("\"CONTECH_").skip(1).filter_map(|rest| rest.split('"').next());
            let names = quoted.filter(|name| name.chars().all(of_a_variable));
            found.extend(names.map(|name| format!("CONTECH_{name}")));
        }
    }
    Ok(found)
}

#[test]
fn variables_are_those_the_sources_read() -> Result<()> {
    const PRODUCT: [&str; 6] =
        ["instrument", "runtime", "middle", "plain", "taskgraph", "backends"];
    let pages = ["environment.md", "developers.md"]
        .map(|page| fs::read_to_string(workspace().join("docs/src/reference").join(page)));
    let page: String = pages.into_iter().collect::<Result<_, _>>()?;
    let documented: BTreeSet<_> =
        words(&page, "\n  CONTECH_", of_a_variable).map(|name| name.trim().to_owned()).collect();
    ensure!(
        documented == variables(&PRODUCT)?,
        "the table in instrument/cc/src/environment.rs has {documented:?}, the sources read {:?}",
        variables(&PRODUCT)?
    );
    let mut known = variables(&["tests", "bench"])?;
    known.extend(documented);
    for (file, text) in documents()? {
        for name in words(&text, "CONTECH_", of_a_variable) {
            ensure!(known.contains(name), "{}: nothing reads {name}", file.display());
        }
    }
    Ok(())
}

#[test]
fn options_and_analyses_are_those_of_the_tools() -> Result<()> {
    let help = |page: &str| fs::read_to_string(workspace().join("docs/src/reference").join(page));
    let mut known = help("commands.md")? + &help("analyses.md")?;
    // The options of our own development commands are fields or texts of these sources.
    for folder in ["bench/src", "tests/src/bin"] {
        for file in below(folder, "rs")? {
            let text = fs::read_to_string(file)?;
            let fields = text.lines().filter_map(|l| l.trim().split_once(": "));
            known.extend(fields.map(|(name, _)| format!(" --{} ", name.replace('_', "-"))));
            known += &text;
        }
    }
    let analyses = analyses()?;
    let analyse = said("contech analyse --help")?;
    for (file, text) in documents()? {
        for said in code(&text) {
            for option in words(said, "--", |c| c.is_ascii_lowercase() || c == '-') {
                let is_known = words(&known, "--", |c| c.is_ascii_lowercase() || c == '-')
                    .any(|other| other == option);
                ensure!(
                    option.len() < 4
                        || option.ends_with('-')
                        || is_known
                        || FOREIGN.contains(&option),
                    "{}: nothing has the option {option}",
                    file.display()
                );
            }
            let words = ["contech-backend ", "contech analyse ", "contech debug "];
            let Some((_, after)) = words.iter().find_map(|word| said.split_once(word)) else {
                continue;
            };
            let name = after.split_whitespace().next().unwrap_or_default();
            if name.starts_with(|c: char| c.is_ascii_lowercase()) {
                ensure!(
                    analyses.iter().any(|a| a == name) || analyse.contains(&format!("\n  {name} ")),
                    "{}: no analysis {name}",
                    file.display()
                );
            }
        }
    }
    Ok(())
}

/// What the tables of a page name in their column `tested by`.
fn testers(page: &str) -> Result<Vec<String>> {
    let text = fs::read_to_string(workspace().join(page))?;
    let mut found = Vec::new();
    let mut has_testers = false;
    for line in text.lines() {
        if !line.starts_with('|') {
            has_testers = false;
            continue;
        }
        let cells = line.trim_end_matches('|');
        let last = cells.rsplit('|').next().unwrap_or_default();
        if last.contains("tested by") {
            has_testers = true;
        } else if has_testers && !last.contains("---") {
            found.extend(last.split(',').map(|n| n.trim().trim_matches('`').into()));
        }
    }
    Ok(found)
}

fn is_program(name: &str) -> bool {
    let folders = ["tests/programs", "tests/programs/mpi"];
    let extensions = ["c", "cpp", "f90", "F90", "f"];
    let file =
        |folder: &str, extension| workspace().join(folder).join(format!("{name}.{extension}"));
    folders.iter().any(|folder| extensions.iter().any(|e| file(folder, e).exists()))
}

#[test]
fn programs_and_tests_in_tables_exist() -> Result<()> {
    let mut functions = BTreeSet::new();
    for folder in ["instrument", "runtime", "middle", "taskgraph", "backends", "tests"] {
        for file in below(folder, "rs")? {
            let text = fs::read_to_string(&file)?;
            let tests = text.split("#[test]").skip(1);
            let names =
                tests.filter_map(|t| t.split("fn ").nth(1)?.split('(').next().map(str::to_owned));
            functions.extend(names);
        }
    }
    let none = BTreeSet::new();
    for (page, functions, least) in [
        ("docs/src/reference/constructs.md", &none, 60),
        ("docs/src/design/contracts.md", &functions, 30),
    ] {
        let all = testers(page)?;
        let unknown = all.iter().find(|name| !is_program(name) && !functions.contains(*name));
        ensure!(unknown.is_none(), "{page}: there is no {unknown:?}");
        ensure!(all.len() > least, "{page}: only {} programs and tests", all.len());
    }
    Ok(())
}

#[test]
fn the_readme_is_a_page() -> Result<()> {
    let text = fs::read_to_string(workspace().join("README.md"))?;
    ensure!(text.lines().count() <= 120, "{} lines", text.lines().count());
    for line in text.lines() {
        // A row of a table cannot be broken.
        let long = line.chars().count() > 100 && !line.starts_with('|');
        ensure!(!long, "more than 100 columns: {line}");
    }
    Ok(())
}

/// How programs of the guide are compiled.
const FLAGS: &[&str] = &["-g", "-O2", "-pthread", "-Wall", "-Werror"];

/// Compares everything that the README says of the guide's example, except for times.
#[test]
fn the_example_of_the_guide_does_what_the_readme_says() -> Result<()> {
    let scratch = Scratch::new("docs-example")?;
    let program = scratch.join("histogram");
    let source = workspace().join("docs/src/guide/histogram.c");
    let mut command = Toolchain::contech().compile(&source, FLAGS, &program)?;
    let (_, graph) = Recording::whole(&mut command, &scratch.join("traces"))?;
    let stats = backend_json(&["stats"], &graph)?;
    // Commas group the digits of a number.
    let readme = fs::read_to_string(workspace().join("README.md"))?.replace(',', "");
    for what in ["contexts", "accesses"] {
        let said = format!("{} {what}", stats[what]);
        ensure!(readme.contains(&said), "README does not say {said}: {stats}");
    }
    runs_what_the_guide_says(&program, &scratch)?;
    scratch.done()
}

/// What the page of the three programs says is found in them, whatever the machine does meanwhile:
/// the lock at its line, the line of the cache that is shared for nothing, and the slow stage. The
/// mended one of those that share does the same and does not.
#[test]
fn the_three_programs_have_the_faults_that_the_page_names() -> Result<()> {
    let scratch = Scratch::new("docs-cases")?;
    let recorded = |name: &str, options: &[&str]| -> Result<(String, PathBuf)> {
        let folder = scratch.subdir(format!("{name}{}", options.len()))?;
        let program = folder.join(name);
        let source = workspace().join(format!("docs/src/guide/cases/{name}.c"));
        let mut command =
            Toolchain::contech().compile(&source, &[FLAGS, options].concat(), &program)?;
        let (run, graph) = Recording::whole(&mut command, &folder)?;
        Ok((run.out(), graph))
    };
    let [lock, pipeline] = ["lock", "pipeline"].map(|name| recorded(name, &[]));
    let ((said, shared), (mended, apart)) =
        (recorded("sharing", &[])?, recorded("sharing", &["-DFIXED"])?);
    ensure!(said == mended, "{said}{mended}");
    let has_loss = |graph: &Path, is: &dyn Fn(&Value) -> bool| -> Result<bool> {
        let account = backend_json(&["account"], graph)?;
        Ok(account["losses"].as_array().is_some_and(|all| all.iter().any(is)))
    };
    let waits = |loss: &Value| loss["cause"] == "lock" && loss["wait"]["line"] == 32;
    ensure!(has_loss(&lock?.1, &waits)?, "lock.c waits at no lock");
    let slow = |loss: &Value| loss["code"]["function"] == "is_prime";
    ensure!(has_loss(&pipeline?.1, &slow)?, "is_prime holds nobody up");
    let false_lines = |graph: &Path| -> Result<usize> {
        let found = backend_json(&["sharing"], graph)?;
        let lines = found["lines"].as_array().context("lines")?;
        Ok(lines.iter().filter(|line| line["false"] == true).count())
    };
    ensure!(false_lines(&shared)? > 0 && false_lines(&apart)? == 0);
    scratch.done()
}

/// Commands of the guide that need other files than those of a recorded program.
const OTHERS: [&str; 4] =
    ["contech scale", "contech debug shard", "contech analyse profile", "trace.*.bin"];

/// Runs the lines of README and guide that begin with `contech`, one after the other as a reader
/// does, of a program.
fn runs_what_the_guide_says(program: &Path, scratch: &Scratch) -> Result<()> {
    let folder = scratch.join("guide");
    fs::create_dir_all(&folder)?;
    for name in ["prog", "histogram"] {
        fs::copy(program, folder.join(name))?;
    }
    for source in below("docs/src/guide", "c")? {
        fs::copy(&source, folder.join(source.file_name().context("a name")?))?;
    }
    let path = path_from(home())?;
    let ours = |line: &str| {
        let line = line.trim_start_matches("$ ");
        let begins = line.starts_with("contech ") && !line.contains("recorded/")
            || line.starts_with("contech-cc -g -O2 -pthread");
        (begins && !OTHERS.iter().any(|other| line.contains(other))).then(|| line.to_owned())
    };
    let mut lines = vec!["contech record -- ./prog".to_owned(), "contech graph".to_owned()];
    for (file, text) in documents()? {
        let guide = file.ends_with("README.md")
            || file.components().any(|part| part.as_os_str() == "guide");
        let shown = text.lines().filter(|line| line.starts_with("    "));
        lines.extend(
            shown
                .map(str::trim)
                .filter_map(ours)
                .filter(|_| guide && !file.starts_with(workspace().join("backends"))),
        );
    }
    for line in &lines {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(&folder).env("PATH", &path);
        run(&mut shell)?.ok().with_context(|| line.clone())?;
    }
    ensure!(lines.len() > 10, "only {lines:?}");
    Ok(())
}
