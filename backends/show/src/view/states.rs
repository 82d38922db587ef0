//! What a processor's time can be, for all that is drawn: one name, one colour, one meaning,
//! wherever it stands.

use serde::Serialize;

/// A use or a loss of time, or another thing that a finding can be about.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct State {
    /// Its name in legends, tables and findings; with hyphens for spaces it is the name of its
    /// colour.
    pub name: &'static str,
    /// Its colour on a light and on a dark page.
    #[serde(skip)]
    pub color: [&'static str; 2],
    /// What it means, as the end of a sentence that begins with its name.
    pub doc: &'static str,
    /// Whether a model says how much it is, so that it is drawn hatched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimate: bool,
}

/// A row of the table.
const fn state(name: &'static str, color: [&'static str; 2], doc: &'static str) -> State {
    State { name, color, doc, estimate: false }
}

/// A row whose amount is an estimate.
const fn estimate(name: &'static str, color: [&'static str; 2], doc: &'static str) -> State {
    State { estimate: true, ..state(name, color, doc) }
}

/// All of them.
pub const STATES: &[State] = &[
    state("running", ["#2f6fd6", "#5b93ee"], "executes the program"),
    // What a thread waits for. The account lays each such moment on a loss.
    state("lock", ["#d64545", "#f07171"], "waits for a lock that another thread holds"),
    state(
        "barrier",
        ["#e8912d", "#f0a95a"],
        "waits for the others at a barrier; as a loss: there is too little work between barriers",
    ),
    state("join", ["#8d86ad", "#9a92bd"], "waits for a thread or a task to end"),
    state("condition", ["#1f9e94", "#45c1b6"], "waits for a condition variable"),
    state("semaphore", ["#6aa84f", "#8bc46f"], "waits for a semaphore"),
    state("once", ["#a5734a", "#c2946c"], "waits for another thread's one-time initialisation"),
    state("message", ["#d05ca6", "#e488c3"], "waits for a message of another process"),
    state("delay", ["#6b7280", "#8b94a3"], "was paused by the recording"),
    state("call", ["#9fb3a0", "#5f7862"], "waits in a call of the system"),
    state(
        "other",
        ["#b9c0cb", "#4b5463"],
        "waits for a reason that was not recorded, or has no processor",
    ),
    // What processors lose time to.
    state("serial", ["#6d3fc0", "#a97cf0"], "one thread works and the others wait for it"),
    state("imbalance", ["#c7a500", "#dcc24a"], "some threads have more work than others"),
    state("producer", ["#0c5f5a", "#2b8a83"], "waits for data that another thread makes"),
    state("handover", ["#3c7620", "#6b9c50"], "threads take turns, so one works at a time"),
    state(
        "scheduling",
        ["#7d4d22", "#a8743f"],
        "pieces of work are made, handed out and waited for",
    ),
    state("io", ["#7b8f2a", "#a3b64e"], "sleeps, or waits for input and output"),
    state("startup", ["#4a4f59", "#aab1bd"], "MPI starts and ends"),
    state("threads", ["#d9b98a", "#7a6a4c"], "there are fewer threads than processors"),
    state("system", ["#b08a6a", "#8f7358"], "calls of the system"),
    state("copying", ["#5aa9a0", "#4b8f88"], "memory is copied"),
    state("starting", ["#8793a6", "#6c7687"], "threads begin, or go on after a wait"),
    state("spinning", ["#e2571e", "#f58a5c"], "threads spin on processors that others need"),
    state("bound", ["#5b6f8f", "#93a9c9"], "no thread ever ran on these processors"),
    estimate(
        "locking",
        ["#a33ea1", "#d27ad0"],
        "operations of locks and atomic variables take time themselves",
    ),
    estimate("sharing", ["#8c1d40", "#c9547a"], "processors take cache lines from each other"),
    estimate("cache", ["#2aa7d8", "#6cc7ea"], "data is in no near cache"),
    estimate("allocation", ["#f0946b", "#f5ae8d"], "memory is asked for and given back"),
    state("other losses", ["#d0d6df", "#39414f"], "losses of less than half a percent each"),
    // What else a finding can be about.
    state("unrecorded", ["#c3c8a8", "#59614f"], "executes code that was not recorded"),
    state("races", ["#b00020", "#ff8a80"], "accesses conflict and nothing orders them"),
    state("spawns", ["#44659f", "#7d9cd6"], "what could run in parallel"),
    state("bottleneck", ["#5b2ca8", "#bb98f5"], "the code that is most of the longest path"),
];

/// The parts of a measured run and of a division of speedups. Who means the same as a state above
/// has its colour.
pub const PARTS: &[State] = &[
    state("work", ["#2f6fd6", "#5b93ee"], "time that one processor needs for all of it"),
    state("idle", ["#c2c9d3", "#454d5b"], "has nothing to do"),
    state("spin", ["#94552a", "#d08a55"], "waits and keeps its processor"),
    state("sleep", ["#717c8e", "#919bab"], "waits for a time"),
    state("overhead", ["#7b6fa8", "#a79bd0"], "the parallel program does more on one processor"),
    state("inflation", ["#b0487f", "#d27ba9"], "the same work takes longer on several processors"),
    state("memory", ["#b0487f", "#d27ba9"], "caches and memory hold the threads up"),
    state("hardware delay", ["#b0487f", "#d27ba9"], "caches and memory hold the threads up"),
    state("contention", ["#b0487f", "#d27ba9"], "caches and memory hold the threads up"),
    state("software delay", ["#d64545", "#f07171"], "locks, messages and the library"),
    state("synchronization", ["#d64545", "#f07171"], "threads wait for each other"),
    state("serialization", ["#6d3fc0", "#a97cf0"], "one thread works and the others wait for it"),
    state("load imbalance", ["#c7a500", "#dcc24a"], "some threads have more work than others"),
    state(
        "shares of work",
        ["#9c6fd0", "#c09af0"],
        "what threads do that the serial program does not",
    ),
    state("preemption", ["#6b7280", "#8b94a3"], "other programs have the processor"),
    state("superlinear", ["#2f6fd6", "#5b93ee"], "several caches hold more"),
    state("scales", ["#2f6fd6", "#5b93ee"], "nothing holds it up"),
    state("measured", ["#2f6fd6", "#5b93ee"], "what was measured"),
];

/// Every row.
pub fn all() -> impl Iterator<Item = &'static State> + Clone {
    STATES.iter().chain(PARTS)
}

/// The colours as variables of a style sheet.
#[must_use]
pub fn style() -> String {
    let theme = |at: usize, selector: &str| {
        let one = |state: &State| format!(" --{}: {};", color(state.name), state.color[at]);
        let all: String = all().map(one).collect();
        format!("{selector} {{{all} }}\n")
    };
    theme(0, ":root") + &theme(1, ":root[data-theme=\"dark\"]")
}

/// The name of the colour of a state.
#[must_use]
pub fn color(name: &str) -> String {
    name.replace(' ', "-")
}
