//! Programs drawn from the templates of `bench/planted` and a seed, each with one planted
//! bottleneck, or with none.
//!
//! A template is a program with its twin (`#ifdef MENDED`). The seed draws its names (`$name`),
//! sizes (`~1000`) and alternatives (`[[a||b]]`), the code that takes the time, whether calls of
//! the primitive are wrapped, and what misleads: locks that are free, functions that are busy and
//! fine, a phase that scales, calls through other functions, a second file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use contech_tests::outputs::workspace;
use contech_tests::random::rng::Rng;
use contech_tests::scratch::entries;

/// Words that names are made of, two for each.
const WORDS: [&str; 32] = [
    "amber", "batch", "cargo", "delta", "entry", "field", "grain", "harbor", "inner", "journal",
    "kernel", "ledger", "metric", "node", "orbit", "packet", "query", "route", "sample", "token",
    "upper", "vertex", "window", "yield_of", "zone", "anchor", "bucket", "column", "draft",
    "epoch", "frame", "graph",
];
/// Calls that may be wrapped in functions of the program's own.
const WRAPPED: [(&str, &str); 4] = [
    ("pthread_mutex_lock", "pthread_mutex_t"),
    ("pthread_mutex_unlock", "pthread_mutex_t"),
    ("pthread_barrier_wait", "pthread_barrier_t"),
    ("sem_wait", "sem_t"),
];

/// A drawn program: its source, that of its twin, and the number of threads to run it with.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) source: PathBuf,
    pub(crate) twin: PathBuf,
    pub(crate) threads: u32,
}

/// The templates, sorted by name.
pub(crate) fn templates() -> Result<Vec<PathBuf>> {
    let mut all = entries(&workspace().join("bench/planted"))?;
    all.retain(|path| path.file_stem().is_some_and(|stem| stem != "parts"));
    Ok(all)
}

/// Draws a template's program into a folder. The same seed draws the same program.
pub(crate) fn draw(template: &Path, seed: u64, to: &Path) -> Result<Drawn> {
    fs::create_dir_all(to)?;
    let read = |path: &Path| fs::read_to_string(path).context(path.display().to_string());
    let kind = template.extension().unwrap_or_default().to_string_lossy();
    let stem = template.file_stem().unwrap_or_default().to_string_lossy();
    let mut dice = Dice::new(seed);
    let mut text = read(template)?;
    let rust = kind == "rs";
    let parts = template.with_file_name(if rust { "parts.rs" } else { "parts.c" });
    let mut parts = drawn_parts(&read(&parts)?, rust, &mut dice);
    if !rust {
        if dice.below(2) == 0 {
            (text, parts) = wrapped(&text, parts);
        }
        if dice.below(2) == 0 {
            text = with_phase(&text, &stem);
        }
    }
    let name = format!("{stem}_{seed}");
    let (text, parts) = (dice.expand(&text), dice.expand(&parts));
    let text = match rust {
        true => text.replace("@PARTS@", &parts),
        false if dice.below(2) == 0 => {
            fs::write(to.join(format!("{name}.h")), &parts)?;
            after_includes(&text, &format!("#include \"{name}.h\"\n"))
        }
        false => after_includes(&text, &parts),
    };
    let file = |mended: bool| -> Result<PathBuf> {
        let name = if mended { format!("{name}_mended") } else { name.clone() };
        let path = to.join(format!("{name}.{kind}"));
        fs::write(&path, preprocessed(&text, mended))?;
        Ok(path)
    };
    Ok(Drawn {
        source: file(false)?,
        twin: file(true)?,
        threads: if dice.below(4) == 0 { 4 } else { 2 },
    })
}

/// The functions that a program takes its time in, and up to three that mislead.
fn drawn_parts(all: &str, rust: bool, dice: &mut Dice) -> String {
    let parts: Vec<(&str, &str)> =
        all.split("\n== ").filter_map(|part| part.split_once('\n')).collect();
    let of = |kind: &str| -> Vec<&str> {
        let parts = parts.iter().filter(|part| part.0 == kind);
        parts.map(|part| part.1).collect()
    };
    let mut text = of("work").concat();
    let (word, x, rounds) = match rust {
        true => ("fn", "t: usize", "t"),
        false => ("static void", "int t", "t"),
    };
    if dice.below(3) == 0 && !rust {
        text = text.replace("$work", "$core");
        text.push_str(
            "static [[inline||__attribute__((noinline))]] uint64_t $work(uint64_t x, long rounds) {\n  return $core(x, rounds) + 1;\n}\n",
        );
    }
    let mut leads = of("lead");
    let mut calls = String::new();
    for at in 0..dice.below(4) {
        if leads.is_empty() {
            break;
        }
        let lead = leads.swap_remove(dice.below(leads.len()));
        let name = format!("$lead_{at}");
        text.push_str(&lead.replace("$lead", &name));
        let _ = writeln!(calls, "  {name}({rounds});");
    }
    let unused = if rust { "  let _ = t;" } else { "  (void)t;" };
    let _ = writeln!(text, "{word} $noise({x}) {{\n{unused}\n{calls}}}");
    if !rust {
        text.push_str("static volatile uint64_t $sink[MOST_THREADS * 16];\nstatic void $phase(int t) {\n  for (uint64_t i = 0; i < 400; i++) $noise(t), $sink[t * 16] = $work(i, ~20000);\n}\n");
    }
    text
}

/// The text with its calls of primitives wrapped, and the parts with the wrappers.
fn wrapped(text: &str, mut parts: String) -> (String, String) {
    let mut text = text.to_owned();
    for (call, object) in WRAPPED {
        if !text.contains(&format!("{call}(")) {
            continue;
        }
        text = text.replace(&format!("{call}("), &format!("$my_{call}("));
        if object == "sem_t" {
            parts.insert_str(0, "#include <semaphore.h>\n");
        }
        let _ =
            writeln!(parts, "static inline void $my_{call}({object} *at) {{\n  {call}(at);\n}}");
    }
    (text, parts)
}

/// The text with a phase that scales before the program's end.
fn with_phase(text: &str, stem: &str) -> String {
    let phase = match stem.split_once('_').map_or("", |(kind, _)| kind) {
        "mpi" | "tbb" => return text.to_owned(),
        "omp" => "#pragma omp parallel\n  $phase(omp_get_thread_num());\n",
        _ => "  team(atoi(argv[1]), $phase);\n",
    };
    match text.rfind("  printf(") {
        Some(at) => format!("{}{phase}{}", &text[..at], &text[at..]),
        None => text.to_owned(),
    }
}

/// The text with the parts after its includes.
fn after_includes(text: &str, parts: &str) -> String {
    text.replacen("#include \"common.h\"\n", &format!("#include \"common.h\"\n{parts}"), 1)
}

/// The text without the lines that belong to the other twin. Lines keep their numbers.
fn preprocessed(text: &str, mended: bool) -> String {
    let mut kept = String::new();
    let mut on = true;
    for line in text.lines() {
        let directive = match line {
            "#ifdef MENDED" => Some(mended),
            "#ifndef MENDED" => Some(!mended),
            "#else" => Some(!on),
            "#endif" => Some(true),
            _ => None,
        };
        if let Some(then) = directive {
            on = then;
        } else if on {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

/// What a seed draws.
#[derive(Debug)]
struct Dice {
    rng: Rng,
    names: BTreeMap<String, String>,
    /// The size of the program, in parts of a hundred of what is written.
    size: u64,
}

impl Dice {
    fn new(seed: u64) -> Self {
        let rng = Rng::of_state(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut dice = Self { rng, names: BTreeMap::new(), size: 0 };
        dice.size = 70 + dice.below(71) as u64;
        dice
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.rng.below(n as u64)).unwrap_or(0)
    }

    /// The text with its alternatives, names and sizes drawn.
    fn expand(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['[', '$', '~']) {
            out.push_str(&rest[..at]);
            let (sign, after) = rest[at..].split_at(1);
            rest = after;
            let word = |more: fn(char) -> bool| {
                let end = after.find(|c| !more(c)).unwrap_or(after.len());
                after.split_at(end)
            };
            if sign == "["
                && let Some((all, behind)) = choices(after)
            {
                let chosen = all[self.below(all.len())];
                out.push_str(&self.expand(chosen));
                rest = behind;
            } else if sign == "$" {
                let (name, behind) = word(|c| c.is_alphanumeric() || c == '_');
                out.push_str(&self.name(name));
                rest = behind;
            } else if sign == "~"
                && let (digits, behind) = word(|c| c.is_ascii_digit())
                && let Ok(number) = digits.parse()
            {
                let _ = write!(out, "{}", self.number(number));
                rest = behind;
            } else {
                out.push_str(sign);
            }
        }
        out + rest
    }

    /// The name that stands for `$name` in this program.
    fn name(&mut self, name: &str) -> String {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let (a, b) = (self.below(WORDS.len()), self.below(WORDS.len()));
        let mut drawn = format!("{}_{}", WORDS[a], WORDS[b]);
        if name.starts_with(char::is_uppercase) {
            let part = |word: &str| word[..1].to_uppercase() + &word[1..];
            drawn = part(WORDS[a]) + &part(WORDS[b]);
        }
        if self.names.values().any(|other| *other == drawn) {
            let _ = write!(drawn, "{}", self.names.len());
        }
        self.names.insert(name.to_owned(), drawn.clone());
        drawn
    }

    /// A number from 0.7 to 1.4 times `number`. All numbers of a program are so many times what is
    /// written, so a program and its twin do the same work.
    fn number(&self, number: u64) -> u64 {
        number * self.size / 100
    }
}

/// The alternatives of `[a||b]]`, and what follows.
fn choices(text: &str) -> Option<(Vec<&str>, &str)> {
    let (all, behind) = text.strip_prefix('[')?.split_once("]]")?;
    // Attributes of C++ and arrays of arrays have no alternatives.
    all.contains("||").then(|| (all.split("||").collect(), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_names_sizes_and_alternatives() {
        let text = "$a $b $a [[x||y]] a[1][~1000] ~1000 [[fine]] $Type";
        let draw = |seed| Dice::new(seed).expand(text);
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        let drawn = draw(7);
        let words: Vec<&str> = drawn.split(' ').collect();
        assert_eq!((words[0], words[6]), (words[2], "[[fine]]"));
        assert_ne!(words[0], words[1]);
        assert!(matches!(words[3], "x" | "y"));
        assert_eq!(words[4], format!("a[1][{}]", words[5]));
        assert!((700..=1400).contains(&words[5].parse::<u32>().expect("a number")));
    }

    #[test]
    fn twins_have_the_same_line_numbers() {
        let text = "a\n#ifdef MENDED\nb\n#else\nc\n#endif\nd\n#ifndef MENDED\ne\n#endif\n";
        assert_eq!(preprocessed(text, false), "a\n\n\n\nc\n\nd\n\ne\n\n");
        assert_eq!(preprocessed(text, true), "a\n\nb\n\n\n\nd\n\n\n\n");
    }
}
