//! The goals of recording, compared with what was measured.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::compare::{CPU, Row, USER};
use crate::form::Form;
use crate::programs::Class;
use crate::spread::geometric_mean;

/// By how many nanoseconds what a program of ours repeats takes longer than natively.
pub(crate) fn each(rows: &[Row], name: &str, form: Form) -> Option<f64> {
    let row = rows.iter().find(|r| r.subject.name == name)?;
    let reps: f64 = row.subject.whole.first()?.parse().ok()?;
    let more = row.null.least(form, CPU) - row.null.least(Form::Native, CPU);
    Some(1e9 * more / (reps * 1000.0))
}

/// The table of goals. `o0` are the ratios of -O0 programs, where they were measured.
pub(crate) fn table(rows: &[Row], o0: &[f64]) -> String {
    let general: Vec<&Row> = rows.iter().filter(|r| r.subject.class.is_general()).collect();
    let bound: Vec<&Row> = rows
        .iter()
        .filter(|r| !r.subject.class.is_general() && r.subject.name != "locks")
        .collect();
    let affine: Vec<&Row> = of(rows, Class::Affine);
    let all: Vec<&Row> = rows.iter().collect();
    let mut text = String::from("| goal | at most | naive | fast | |\n|---|---:|---:|---:|---|\n");
    let mut line = |what: &str, goal: f64, f: &dyn Fn(Form) -> f64| {
        let (naive, fast) = (f(Form::Naive), f(Form::Fast));
        if fast.is_finite() {
            let verdict = if fast <= goal { "met" } else { "**missed**" };
            let naive = if naive.is_nan() { String::new() } else { format!("{naive:.2} ") };
            let _ = writeln!(text, "| {what} | {goal:.2} | {naive}| {fast:.2} | {verdict} |");
        }
    };
    line("thrown away, user CPU, geometric mean (all)", 1.15, &|f| {
        mean(&all, &|r| r.null.ratio(f, USER))
    });
    line("the same without call-bound and sync-bound ones", 1.15, &|f| {
        mean(&general, &|r| r.null.ratio(f, USER))
    });
    line("worst of these", 1.6, &|f| worst(&general, f));
    line("worst of call-bound and sync-bound (locks.c apart, see below)", 2.0, &|f| {
        worst(&bound, f)
    });
    line("kept in a memory file, user and system CPU, geometric mean", 1.5, &|f| {
        mean(&all, &|r| r.kept.ratio(f, CPU))
    });
    line("bytes per access, mean", 1.5, &|f| bytes(&all, f));
    line("bytes of the file per access, mean", 1.5, &|f| {
        mean_of(&all, &|r| r.stored_per_access(f))
    });
    line("affine programs, user CPU, geometric mean", 1.02, &|f| {
        mean(&affine, &|r| r.null.ratio(f, USER))
    });
    line("affine programs, bytes per access, mean", 0.05, &|f| bytes(&affine, f));
    line("compiler CPU, geometric mean", 1.25, &|f| mean(&all, &|r| r.compile(f)));
    line("code size (text), geometric mean", 2.0, &|f| mean(&all, &|r| r.text(f)));
    line("lock and unlock of a free mutex, ns more than native", 8.0, &|f| {
        each(rows, "locks", f).unwrap_or(f64::NAN)
    });
    line("an atomic addition, ns more than native", 6.0, &|f| {
        each(rows, "atomics", f).unwrap_or(f64::NAN)
    });
    let named = |name: &str| rows.iter().find(|r| r.subject.name == name);
    line("very small untied tasks, user and system CPU", 3.0, &|f| {
        named("untied").map_or(f64::NAN, |r| r.kept.ratio(f, CPU))
    });
    line("KB recorded in a millisecond of waiting in a loop", 1.0, &|f| {
        named("spin").map_or(f64::NAN, |r| {
            let turns = r.subject.part.first().and_then(|n| n.parse().ok());
            let bytes = r.counts(f).bytes;
            bytes / 1e3 / turns.unwrap_or(f64::NAN)
        })
    });
    line("-O0 code, user CPU, geometric mean", 1.6, &|f| match f {
        Form::Fast => geometric_mean(o0),
        _ => f64::NAN,
    });
    text
}

fn worst(rows: &[&Row], form: Form) -> f64 {
    let ratios = rows.iter().map(|r| r.null.ratio(form, USER));
    ratios.fold(f64::NAN, f64::max)
}

fn of(rows: &[Row], class: Class) -> Vec<&Row> {
    rows.iter().filter(|r| r.subject.class == class).collect()
}

/// The table of classes, for a quick look.
pub(crate) fn classes(rows: &[Row]) -> String {
    let mut text = String::from(
        "| programs | | naive | fast | kept: naive | fast | bytes/access: naive | fast | in the file |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut line = |name: &str, rows: &[&Row]| {
        if rows.is_empty() {
            return;
        }
        let user = |f: Form| mean(rows, &|r| r.null.ratio(f, USER));
        let kept = |f: Form| mean(rows, &|r| r.kept.ratio(f, CPU));
        let _ = writeln!(
            text,
            "| {name} | {} | {:.2} | **{:.2}** | {:.2} | **{:.2}** | {} | {} | {} |",
            rows.len(),
            user(Form::Naive),
            user(Form::Fast),
            kept(Form::Naive),
            kept(Form::Fast),
            said(bytes(rows, Form::Naive)),
            said(bytes(rows, Form::Fast)),
            said(mean_of(rows, &|r| r.stored_per_access(Form::Fast))),
        );
    };
    let kinds: BTreeSet<Class> = rows.iter().map(|r| r.subject.class).collect();
    for class in kinds {
        line(class.name(), &of(rows, class));
    }
    let real = rows.iter().filter(|r| r.subject.class.is_real());
    line("Debian, all", &real.collect::<Vec<_>>());
    line("all", &rows.iter().collect::<Vec<_>>());
    text
}

/// The geometric mean over rows.
fn mean(rows: &[&Row], figure: &dyn Fn(&Row) -> f64) -> f64 {
    geometric_mean(&rows.iter().map(|r| figure(r)).collect::<Vec<_>>())
}

fn bytes(rows: &[&Row], form: Form) -> f64 {
    mean_of(rows, &|r| r.bytes_per_access(form))
}

/// The mean over the rows that have the figure.
fn mean_of(rows: &[&Row], figure: &dyn Fn(&Row) -> f64) -> f64 {
    let all: Vec<f64> = rows.iter().map(|r| figure(r)).filter(|b| !b.is_nan()).collect();
    all.iter().sum::<f64>() / f64::from(u32::try_from(all.len()).unwrap_or(1))
}

/// Two digits, or a dash.
pub(crate) fn said(value: f64) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{value:.2}") }
}
