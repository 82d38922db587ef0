//! The activity graph (deconstructing overhead, section III): what each lane did over time.

use contech_observation::{State, Times};

use crate::scaling::measurement::Activity;
use crate::scaling::report::Report;
use crate::view::chart::{ActivityRow, ActivityState};
use crate::view::units::plural;
use crate::view::{Chart, View};

/// The most lanes that are drawn; the others are counted.
const LANES: usize = 128;

impl Report {
    pub(super) fn activity(&self, mut view: View) -> View {
        let points = self.measurement.points.iter();
        let drawn: Vec<_> =
            points.filter_map(|point| Some((point.threads, point.activity.as_ref()?))).collect();
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
    let row = |(at, bins): (usize, &Vec<Times>)| ActivityRow {
        name: format!("{at}"),
        states: State::ALL
            .into_iter()
            .filter_map(|state| {
                let times = bins.iter().map(|bin| bin.of(state));
                ActivityState::of(state.name(), times, activity.bin_ns)
            })
            .collect(),
        notes: Vec::new(),
    };
    Chart::Activity {
        title: format!("What each thread did over time, {}", plural(threads.into(), "thread")),
        bin_ns: activity.bin_ns,
        lane: "thread".to_owned(),
        path: Vec::new(),
        rows: lanes.map(row).collect(),
        notes: Vec::new(),
    }
}
