//! The activity graph (deconstructing overhead, section III): what each lane did over time.

use contech_observation::State;

use crate::scaling::measurement::{Activity, StateTimes};
use crate::scaling::report::Report;
use crate::view::chart::{ActivityRow, ActivityState};
use crate::view::units::plural;
use crate::view::{Chart, View};

/// The most lanes that are drawn; the others are counted.
const LANES: usize = 128;

impl Report {
    pub(super) fn activity(&self, mut view: View) -> View {
        let points = self.measurement.points.iter();
        let drawn: Vec<_> = points
            .filter_map(|point| Some((point.threads, point.activity.as_ref()?)))
            .collect();
        if drawn.is_empty() {
            return view;
        }
        view = view.heading("Activity");
        for (threads, activity) in drawn {
            view = view.chart(chart(threads, activity));
            if let Some(more) = activity.lanes.len().checked_sub(LANES).filter(|n| *n > 0) {
                view = view.line(format!("{more} more lanes are not drawn."));
            }
        }
        view
    }
}

fn chart(threads: u32, activity: &Activity) -> Chart {
    let lanes = activity.lanes.iter().take(LANES).enumerate();
    let row = |(at, bins): (usize, &Vec<_>)| ActivityRow {
        name: format!("{at}"),
        states: State::ALL
            .into_iter()
            .filter_map(|state| levels(bins, state, activity.bin_ns))
            .collect(),
    };
    Chart::Activity {
        title: format!(
            "What each thread did over time, {}",
            plural(threads.into(), "thread")
        ),
        bin_ns: activity.bin_ns,
        rows: lanes.map(row).collect(),
    }
}

/// The share of each bin in 63 steps, as letters; `None` if the state does not occur.
fn levels(bins: &[StateTimes], state: State, bin_ns: u64) -> Option<ActivityState> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if bins.iter().all(|bin| bin[state as usize] == 0) {
        return None;
    }
    let letter = |bin: &StateTimes| {
        let ns = bin[state as usize];
        // A state that occurs at all is visible: it has at least one step.
        let step = (ns.saturating_mul(63) / bin_ns.max(1)).clamp(u64::from(ns > 0), 63);
        char::from(LETTERS[usize::try_from(step).unwrap_or(0)])
    };
    Some(ActivityState {
        name: state.name().to_owned(),
        color: color(state).to_owned(),
        levels: bins.iter().map(letter).collect(),
    })
}

const fn color(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Scheduling => "w4",
        State::Idle => "other",
        State::Lock => "lock",
        State::Spin => "once",
        State::Barrier => "barrier",
        State::Join => "join",
        State::Condition => "condition",
        State::Message => "message",
        State::Sleep => "delay",
    }
}
