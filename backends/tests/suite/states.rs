//! The table of states has whatever is drawn, and the glossary of the page explains it.

use contech_backends::account::Loss;
use contech_backends::analysis::Cause;
use contech_backends::page::glossary;
use contech_backends::view::states::{STATES, all};
use contech_observation::State as Measured;

#[test]
fn whatever_is_drawn_is_in_the_table_once_and_with_a_colour_of_its_own() {
    let causes = Cause::ALL.iter().map(|cause| cause.name());
    let losses = Loss::ALL.map(Loss::name).into_iter();
    let measured = Measured::ALL.map(Measured::name).into_iter();
    for name in causes.chain(losses).chain(measured) {
        let known = all().filter(|state| state.name == name).count();
        assert_eq!(known, 1, "{name}");
    }
    for theme in [0, 1] {
        let mut colors: Vec<_> = STATES.iter().map(|state| state.color[theme]).collect();
        colors.sort_unstable();
        colors.dedup();
        assert_eq!(colors.len(), STATES.len());
    }
}

#[test]
fn what_its_words_call_an_estimate_is_one() {
    for loss in Loss::ALL {
        let state = all().find(|state| state.name == loss.name());
        let state = state.expect("a state");
        assert_eq!(loss.words().contains("(estimate)"), state.estimate, "{}", state.name);
    }
}

#[test]
fn every_cause_is_a_term_of_the_glossary() {
    let glossary = glossary();
    let more = ["unrecorded", "bottleneck", "races", "spawns"];
    for cause in Loss::ALL.map(Loss::name).into_iter().chain(more) {
        let term = cause.strip_suffix('s').filter(|_| more.contains(&cause));
        let term = format!("<dt id=\"term-{}\">", term.unwrap_or(cause));
        assert!(glossary.contains(&term), "{term}");
    }
}
