//! Libraries whose tasks are recorded as such: their sources get marks ([`MARKS`]) before rustc
//! reads them. What is generic in them is compiled with the program's crates, where an optimised
//! function has no name left to look for, so the marks stand in the source. Every line keeps its
//! number.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use contech_plain::say;

use crate::Error;
use crate::response::value;

/// The module that is added to the library.
const MARKS: &str = include_str!("../../include/contech/tasks.rs");

/// A step through the changes of a library's sources.
enum Change {
    /// What follows is in this file.
    In(&'static str),
    /// Where the text `head cut tail` is there so many times, it becomes `head added tail`.
    Put {
        head: &'static str,
        cut: &'static str,
        tail: &'static str,
        added: &'static str,
        times: usize,
    },
}

use Change::{In, Put};

impl Change {
    const fn times(self, n: usize) -> Self {
        match self {
            Put { head, cut, tail, added, .. } => Put { head, cut, tail, added, times: n },
            In(file) => In(file),
        }
    }
}

const fn between(head: &'static str, added: &'static str, tail: &'static str) -> Change {
    Put { head, cut: "", tail, added, times: 1 }
}

const fn after(head: &'static str, added: &'static str) -> Change {
    between(head, added, "")
}

const fn before(added: &'static str, tail: &'static str) -> Change {
    between("", added, tail)
}

const fn instead(cut: &'static str, added: &'static str) -> Change {
    Put { head: "", cut, tail: "", added, times: 1 }
}

/// What follows in the block is the library's own.
const fn from(tail: &'static str) -> Change {
    before("let _library = crate::contech::Library::enter(); ", tail)
}

/// The function is the library's own.
const fn enters(function: &'static str) -> Change {
    after(function, " let _library = crate::contech::Library::enter();")
}

/// A crate whose tasks are known.
struct Library {
    name: &'static str,
    /// The versions that the changes were tested with.
    tested: &'static str,
    changes: &'static [Change],
}

const LIBRARIES: [Library; 2] = [
    Library { name: "rayon_core", tested: "1.12 and 1.13", changes: RAYON },
    Library { name: "tokio", tested: "1.54", changes: TOKIO },
];

/// Jobs on a stack (`join`, `install`) and on the heap (`spawn`), what waits for them, and where
/// the pool begins.
const RAYON: &[Change] = &[
    In("job.rs"),
    between(
        "    result: UnsafeCell<JobResult<R>>,",
        " pub(super) task: UnsafeCell<crate::contech::Task>,",
        "\n",
    ),
    after(
        "result: UnsafeCell::new(JobResult::None),",
        " task: UnsafeCell::new(crate::contech::Task::unknown()),",
    ),
    after(
        "pub(super) unsafe fn as_job_ref(&self) -> JobRef {",
        " *self.task.get() = crate::contech::Task::create();",
    ),
    instead(
        "self.func.into_inner().unwrap()(stolen)",
        "let Self { func, task, .. } = self; let func = func.into_inner().unwrap(); task.into_inner().run_with(func, stolen)",
    ),
    instead(
        "(*this.result.get()) = JobResult::call(func);",
        "let task = *this.task.get(); (*this.result.get()) = JobResult::call(move |stolen| task.run_with(func, stolen));",
    ),
    enters("pub(super) fn new(job: BODY) -> Box<Self> {"),
    enters("pub(super) unsafe fn push(&self, job_ref: JobRef) -> JobRef {"),
    In("join/mod.rs"),
    before(
        "let _library = crate::contech::Library::join(*job_b.task.get()); ",
        "let result_a = match status_a {",
    ),
    In("registry.rs"),
    instead(
        "self.inject(job.as_job_ref());",
        "let job_ref = job.as_job_ref(); let _library = crate::contech::Library::join(*job.task.get()); self.inject(job_ref);",
    )
    .times(2),
    from("let n_threads = Ord::min("),
    enters("pub fn run(self) {"),
    enters("pub(super) fn global_registry() -> &'static Arc<Registry> {"),
    enters("pub(super) fn current() -> Arc<Registry> {"),
    enters("pub(super) fn inject_or_push(&self, job_ref: JobRef) {"),
    enters("pub(super) fn inject(&self, injected_job: JobRef) {"),
    enters(
        "pub(super) fn inject_broadcast(&self, injected_jobs: impl ExactSizeIterator<Item = JobRef>) {",
    ),
    enters("pub(super) fn increment_terminate_count(&self) {"),
    enters("pub(super) fn terminate(&self) {"),
    enters("pub(super) unsafe fn push(&self, job: JobRef) {"),
    enters("pub(super) fn yield_now(&self) -> Yield {"),
    enters("pub(super) fn yield_local(&self) -> Yield {"),
    In("scope/mod.rs"),
    before(
        "let task = crate::contech::Task::create(); ",
        "let job = HeapJob::new(move || unsafe {",
    )
    .times(2),
    instead(
        "execute_job(&scope.base, move || body(scope))",
        "execute_job(&scope.base, move || task.run(move || body(scope)))",
    )
    .times(2),
    instead(
        "let func = move || BroadcastContext::with(move |ctx| body(scope, ctx));",
        "let func = move || crate::contech::Task::unknown().run(move || BroadcastContext::with(move |ctx| body(scope, ctx)));",
    )
    .times(2),
    from("let registry = registry.unwrap_or_else(|| match owner {"),
    from("self.job_completed_latch.increment();\n            job.into_job_ref()"),
    instead(
        "let result = unsafe { Self::execute_job_closure(self, func) };",
        "let group = crate::contech::Group::begin(); let result = unsafe { Self::execute_job_closure(self, func) }; let _library = group.join();",
    ),
    from("Latch::set(&(*this).job_completed_latch);"),
    In("spawn/mod.rs"),
    before(
        "let task = crate::contech::Task::detached(); ",
        "registry.increment_terminate_count();\n",
    ),
    instead("registry.catch_unwind(func);", "task.run(|| registry.catch_unwind(func));"),
    In("broadcast/mod.rs"),
    before(
        "let group = crate::contech::Group::begin(); ",
        "let latch = CountLatch::with_count(n_threads, current_thread);",
    ),
    before("let _library = group.join(); ", "latch.wait(current_thread);"),
    instead(
        "registry.catch_unwind(|| BroadcastContext::with(&op));",
        "crate::contech::Task::unknown().run(|| registry.catch_unwind(|| BroadcastContext::with(&op)));",
    ),
];

/// What a task's waker and `JoinHandle` do to its state is recorded as the atomic operations that
/// it is: so a wake is an edge to the next poll, which reads the state first. Queues, lists of
/// tasks, timers and parking are tokio's own.
const TOKIO: &[Change] = &[
    In("runtime/task/core.rs"),
    between(
        "    pub(super) state: State,",
        " pub(super) turns: crate::contech::Turns,",
        "\n\n    /// Pointer to next",
    ),
    after(
        "            Header {\n                state,",
        " turns: crate::contech::Turns::generate(),",
    ),
    In("runtime/task/harness.rs"),
    instead(
        "let res = poll_future(self.core(), cx);",
        "unsafe { self.header().turns.begin() }; let res = crate::contech::apart(|| poll_future(self.core(), cx));",
    ),
    before(
        "unsafe { self.header().turns.pause() }; ",
        "let transition_res = self.state().transition_to_idle();",
    ),
    after(
        "                if let TransitionToIdle::Cancelled = transition_res {",
        " unsafe { self.header().turns.begin() };",
    ),
    after(
        "            TransitionToRunning::Cancelled => {",
        " unsafe { self.header().turns.begin() };",
    ),
    before(
        "unsafe { self.header().turns.begin() }; ",
        "// By transitioning the lifecycle to `Running`, we have permission to",
    ),
    before(
        "let turns = unsafe { self.header().turns.last() }; ",
        "let num_release = self.release();",
    ),
    after(
        "        if self.state().transition_to_terminal(num_release) {\n            self.dealloc();\n        }",
        " turns.end();",
    ),
    instead(
        "cancel_task(self.core());",
        "crate::contech::apart(|| cancel_task(self.core()));",
    )
    .times(3),
    before("self.header().turns.wake(); ", "match self.state().transition_to_notified_by_val() {"),
    before("self.header().turns.wake(); ", "match self.state().transition_to_notified_by_ref() {"),
    before("self.header().turns.wake(); ", "if self.state().transition_to_notified_and_cancel() {"),
    In("runtime/task/list.rs"),
    enters("pub(crate) fn remove(&self, task: &Task<S>) -> Option<Task<S>> {").times(2),
    enters(
        "unsafe fn bind_inner(&self, task: Task<S>, notified: Notified<S>) -> Option<Notified<S>>\n    where\n        S: Schedule,\n    {",
    ),
    In("runtime/scheduler/defer.rs"),
    enters("pub(crate) fn defer(&self, waker: &Waker) {"),
    instead(
        "            waker.wake();\n",
        "            crate::contech::yielded(|| waker.wake());\n",
    ),
    In("runtime/scheduler/multi_thread/worker.rs"),
    enters("pub(super) fn schedule_task(&self, task: Notified, is_yield: bool) {"),
    instead(
        "runtime::spawn_blocking(move || run(worker));",
        "{ let _library = crate::contech::Library::enter(); runtime::spawn_blocking(move || run(worker)); }",
    )
    .times(2),
    In("runtime/scheduler/current_thread/mod.rs"),
    enters("fn schedule(&self, task: task::Notified<Self>) {"),
    after("    woken: AtomicBool,", " turns: crate::contech::Turns,"),
    after(
        "                woken: AtomicBool::new(false),",
        " turns: crate::contech::Turns::own(),",
    ),
    before(
        "arc_self.shared.turns.wake(); ",
        "let already_woken = arc_self.shared.woken.swap(true, Release);",
    ),
    before(
        "let _serial = context.handle.local_tid.map(|_| crate::contech::Serial::new(Arc::as_ptr(&context.handle) as usize)); let mut away = None; ",
        "'outer: loop {",
    ),
    after("                if handle.reset_woken() {", " away = None;"),
    before(
        "away.get_or_insert_with(|| unsafe { handle.shared.turns.away() }); ",
        "for _ in 0..handle.shared.config.event_interval {",
    ),
    In("runtime/park.rs"),
    after("    state: AtomicUsize,", " turns: crate::contech::Turns,"),
    after(
        "                state: AtomicUsize::new(EMPTY),",
        " turns: crate::contech::Turns::own(),",
    ),
    after("    fn park(&self) {", " let _away = unsafe { self.turns.away() };").times(2),
    after(
        "    fn park_timeout(&self, dur: Duration) {",
        " let _away = unsafe { self.turns.away() };",
    )
    .times(2),
    after(
        "    fn unpark(&self) {",
        " self.turns.wake(); let _library = crate::contech::Library::enter();",
    ),
    In("task/local.rs"),
    after(
        "    fn tick(&self) -> bool {",
        " let _serial = crate::contech::Serial::new(Arc::as_ptr(&self.context.shared) as usize);",
    ),
    after(
        "impl Drop for LocalSet {\n    fn drop(&mut self) {",
        " let _serial = crate::contech::Serial::new(Arc::as_ptr(&self.context.shared) as usize);",
    ),
    enters("fn schedule(&self, task: task::Notified<Arc<Self>>) {"),
    In("runtime/blocking/pool.rs"),
    enters("pub(crate) fn shutdown(&mut self, timeout: Option<Duration>) {"),
    enters("fn spawn_task(&self, task: Task, rt: &Handle) -> Result<(), SpawnError> {"),
];

/// The arguments of rustc, with marks in the sources if they are those of a library whose tasks are
/// known.
pub(crate) fn marked(mut arguments: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let name = value(&arguments, "--crate-name").unwrap_or_default();
    let Some(library) = LIBRARIES.iter().find(|l| name == l.name) else {
        return Ok(arguments);
    };
    let is_root = |a: &OsString| a.to_str().is_some_and(|a| a.ends_with("src/lib.rs"));
    let root = arguments.iter().position(is_root);
    let (Some(root), Some(out)) = (root, value(&arguments, "--out-dir")) else {
        return Ok(arguments);
    };
    let from = Path::new(&arguments[root]).with_file_name("");
    let extra = |a: &OsString| a.to_str()?.strip_prefix("extra-filename=").map(str::to_owned);
    let extra = arguments.iter().find_map(extra).unwrap_or_default();
    let to = Path::new(out).join(format!("contech-{}{extra}", library.name));
    if !copy(&from, &to, library.changes)? {
        say!(
            "contech: {}: its tasks are not recorded as such (known are those of {} {})",
            from.display(),
            library.name,
            library.tested
        );
        return Ok(arguments);
    }
    arguments[root] = to.join("lib.rs").into();
    let mut remap = OsString::from("--remap-path-prefix=");
    remap.push(&to);
    remap.push("=");
    remap.push(&from);
    arguments.push(remap);
    Ok(arguments)
}

/// Copies a crate's sources with changes. Returns whether each change found what it changes.
///
/// Cargo compiles a crate again when a source is newer than its last build, and the copies are made
/// during the build. So they are as old as the sources, and the root names the sources, so that
/// cargo knows of them.
fn copy(from: &Path, to: &Path, changes: &[Change]) -> Result<bool, Error> {
    let at = |path: &Path, cause| Error::file(path, cause);
    let mut folders: Vec<PathBuf> = vec![PathBuf::new()];
    let mut made = 0;
    let (mut root, mut sources) = (String::new(), String::new());
    while let Some(folder) = folders.pop() {
        let (old, new) = (from.join(&folder), to.join(&folder));
        fs::create_dir_all(&new).map_err(|cause| at(&new, cause))?;
        for entry in fs::read_dir(&old).map_err(|cause| at(&old, cause))? {
            let entry = entry.map_err(|cause| at(&old, cause))?;
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
                continue;
            }
            let (source, target) = (entry.path(), to.join(&path));
            let text = fs::read_to_string(&source).map_err(|c| at(&source, c))?;
            let (text, n) = changed(&path, text, changes);
            made += n;
            sources += &format!("const _: &[u8] = include_bytes!({source:?});\n");
            if path == Path::new("lib.rs") {
                root = text;
            } else {
                write_as_old_as(&source, &target, &text).map_err(|cause| at(&target, cause))?;
            }
        }
    }
    let (source, target) = (from.join("lib.rs"), to.join("lib.rs"));
    write_as_old_as(&source, &target, &(root + &sources)).map_err(|cause| at(&target, cause))?;
    Ok(made == changes.iter().filter(|change| matches!(change, Put { .. })).count())
}

fn write_as_old_as(source: &Path, target: &Path, text: &str) -> io::Result<()> {
    let modified = fs::metadata(source)?.modified()?;
    let mut file = File::create(target)?;
    file.write_all(text.as_bytes())?;
    file.set_modified(modified)
}

/// The text of a file with its changes, and how many of them were made.
fn changed(path: &Path, mut text: String, changes: &[Change]) -> (String, usize) {
    let mut made = 0;
    let mut file = "";
    for change in changes {
        match change {
            In(next) => file = next,
            Put { head, cut, tail, added, times } if Path::new(file) == path => {
                let find = format!("{head}{cut}{tail}");
                if text.matches(&find).count() == *times {
                    text = text.replace(&find, &format!("{head}{added}{tail}"));
                    made += 1;
                }
            }
            Put { .. } => {}
        }
    }
    if path == Path::new("lib.rs") {
        text += &format!("\nmod contech {{\n{MARKS}}}\n");
    }
    (text, made)
}
