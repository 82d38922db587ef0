//! A program built in all three forms, ready to be measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::process::run;
use contech_tests::program::is_cxx;

use crate::form::Form;
use crate::measure::measure;
use crate::programs::{Class, Program};

/// Repetitions are divided by this where the trace is kept or counted, since it would have
/// gigabytes otherwise.
pub(crate) const KEPT_SHARE: u64 = 6;

#[derive(Debug, Clone)]
pub(crate) struct Built {
    pub(crate) executable: PathBuf,
    /// Seconds of CPU time the compiler took.
    pub(crate) compile_seconds: f64,
    /// Bytes of machine code and constants.
    pub(crate) text: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) class: Class,
    pub(crate) threads: u32,
    /// The built forms, in the order of [`Form::ALL`].
    pub(crate) built: Vec<Built>,
    /// Arguments of a whole run, or a line for the shell.
    pub(crate) whole: Vec<String>,
    /// Arguments of a run that is kept.
    pub(crate) part: Vec<String>,
}

impl Subject {
    /// Compiles a program of our own at an optimisation level, `runs` times each form in turn; the
    /// fastest compilation counts.
    pub(crate) fn own(
        program: &Program,
        level: &str,
        share: u64,
        runs: usize,
        dir: &Path,
    ) -> Result<Self> {
        let mut built: Vec<Built> = Vec::new();
        for round in 0..runs.max(1) {
            for (i, form) in Form::ALL.into_iter().enumerate() {
                let to = dir.join(format!("{}{level}", form.name()));
                fs::create_dir_all(&to)?;
                let this = compile(program, level, form, &to)?;
                if round == 0 {
                    built.push(this);
                } else if this.compile_seconds < built[i].compile_seconds {
                    built[i] = this;
                }
            }
        }
        let reps = (program.reps / share).max(1);
        Ok(Self {
            name: program.name().to_owned(),
            class: program.class,
            threads: program.threads,
            built,
            whole: vec![reps.to_string()],
            part: vec![(reps / KEPT_SHARE).max(1).to_string()],
        })
    }

    pub(crate) fn form(&self, form: Form) -> &Built {
        &self.built[form as usize]
    }

    /// A command that runs one form.
    pub(crate) fn command(&self, form: Form, whole: bool) -> Command {
        let words = if whole { &self.whole } else { &self.part };
        program(&self.form(form).executable, words)
    }
}

/// How arguments begin that the shell is to run.
pub(crate) const SHELL: &str = "\"$0\"";

/// A command that runs a program with its arguments, or a line for the shell. What the program
/// writes is left beside it.
fn program(executable: &Path, words: &[String]) -> Command {
    let line = words.first().filter(|word| word.starts_with(SHELL));
    let Some(line) = line else {
        let mut command = Command::new(executable);
        command.args(words);
        return command;
    };
    let mut command = Command::new("sh");
    command.arg("-ec").arg(line).arg(executable);
    command.current_dir(executable.parent().unwrap_or(executable));
    command
}

fn compile(program: &Program, level: &str, form: Form, to: &Path) -> Result<Built> {
    let source = program.source();
    let (object, executable) =
        (to.join(program.name()).with_extension("o"), to.join(program.name()));
    let tools = form.tools();
    let mut command = Command::new(tools.compiler_of(&source));
    command.env("CONTECH_OPTIONS", form.options());
    command.args([level, "-pthread", "-w"]);
    command.args(is_cxx(&source).then_some("-std=c++17"));
    let openmp = fs::read_to_string(&source)?.contains("#pragma omp");
    let openmp = openmp.then_some("-fopenmp");
    command.args(openmp);
    command.arg("-c").arg(&source).arg("-o").arg(&object);
    let (_, used) = measure(&mut command)?;
    let mut link = Command::new(tools.compiler_of(&source));
    link.env("CONTECH_OPTIONS", form.options());
    link.args([level, "-pthread"]).args(openmp).arg(&object).arg("-lm").arg("-o").arg(&executable);
    run(&mut link)?.ok()?;
    Ok(Built { text: text_size(&executable)?, executable, compile_seconds: used.cpu })
}

/// The `text` column of `size`: code, constants and tables for unwinding.
pub(crate) fn text_size(executable: &Path) -> Result<u64> {
    let done = run(Command::new("size").arg(executable))?.ok()?;
    let out = done.out();
    let line = out.lines().nth(1).with_context(|| done.to_string())?;
    let text = line.split_whitespace().next().with_context(|| done.to_string())?;
    text.parse().with_context(|| done.to_string())
}
