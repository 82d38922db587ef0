//! Libraries whose tasks are recorded as such: their sources get marks ([`MARKS`]) before rustc
//! reads them. What is generic in them is compiled with the program's crates, where an optimised
//! function has no name left to look for, so the marks stand in the source. Every line keeps its
//! number.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use contech_plain::say;

use crate::Error;

/// The module that is added to the library.
const MARKS: &str = include_str!("../../include/contech/tasks.rs");

/// A change of a source file: this text, which is there so many times, becomes that one.
type Change = (&'static str, usize, &'static str, &'static str);

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

macro_rules! enters {
    ($file:literal, $function:literal) => {
        (
            $file,
            1,
            $function,
            concat!($function, " let _library = crate::contech::Library::enter();"),
        )
    };
}

/// Jobs on a stack (`join`, `install`) and on the heap (`spawn`), what waits for them, and where
/// the pool begins.
const RAYON: &[Change] = &[
    (
        "job.rs",
        1,
        "    result: UnsafeCell<JobResult<R>>,\n",
        "    result: UnsafeCell<JobResult<R>>, pub(super) task: UnsafeCell<crate::contech::Task>,\n",
    ),
    (
        "job.rs",
        1,
        "result: UnsafeCell::new(JobResult::None),",
        "result: UnsafeCell::new(JobResult::None), task: UnsafeCell::new(crate::contech::Task::unknown()),",
    ),
    (
        "job.rs",
        1,
        "pub(super) unsafe fn as_job_ref(&self) -> JobRef {",
        "pub(super) unsafe fn as_job_ref(&self) -> JobRef { *self.task.get() = crate::contech::Task::create();",
    ),
    (
        "job.rs",
        1,
        "self.func.into_inner().unwrap()(stolen)",
        "let Self { func, task, .. } = self; let func = func.into_inner().unwrap(); task.into_inner().run_with(func, stolen)",
    ),
    (
        "job.rs",
        1,
        "(*this.result.get()) = JobResult::call(func);",
        "let task = *this.task.get(); (*this.result.get()) = JobResult::call(move |stolen| task.run_with(func, stolen));",
    ),
    enters!("job.rs", "pub(super) fn new(job: BODY) -> Box<Self> {"),
    enters!("job.rs", "pub(super) unsafe fn push(&self, job_ref: JobRef) -> JobRef {"),
    (
        "join/mod.rs",
        1,
        "let result_a = match status_a {",
        "let _library = crate::contech::Library::join(*job_b.task.get()); let result_a = match status_a {",
    ),
    (
        "registry.rs",
        1,
        "self.inject(job.as_job_ref());\n            job.latch",
        "let job_ref = job.as_job_ref(); let _library = crate::contech::Library::join(*job.task.get()); self.inject(job_ref);\n            job.latch",
    ),
    (
        "registry.rs",
        1,
        "self.inject(job.as_job_ref());\n        current_thread",
        "let job_ref = job.as_job_ref(); let _library = crate::contech::Library::join(*job.task.get()); self.inject(job_ref);\n        current_thread",
    ),
    (
        "registry.rs",
        1,
        "let n_threads = Ord::min(",
        "let _library = crate::contech::Library::enter(); let n_threads = Ord::min(",
    ),
    enters!("registry.rs", "pub fn run(self) {"),
    enters!("registry.rs", "pub(super) fn global_registry() -> &'static Arc<Registry> {"),
    enters!("registry.rs", "pub(super) fn current() -> Arc<Registry> {"),
    enters!("registry.rs", "pub(super) fn inject_or_push(&self, job_ref: JobRef) {"),
    enters!("registry.rs", "pub(super) fn inject(&self, injected_job: JobRef) {"),
    enters!(
        "registry.rs",
        "pub(super) fn inject_broadcast(&self, injected_jobs: impl ExactSizeIterator<Item = JobRef>) {"
    ),
    enters!("registry.rs", "pub(super) fn increment_terminate_count(&self) {"),
    enters!("registry.rs", "pub(super) fn terminate(&self) {"),
    enters!("registry.rs", "pub(super) unsafe fn push(&self, job: JobRef) {"),
    enters!("registry.rs", "pub(super) fn yield_now(&self) -> Yield {"),
    enters!("registry.rs", "pub(super) fn yield_local(&self) -> Yield {"),
    (
        "scope/mod.rs",
        2,
        "let job = HeapJob::new(move || unsafe {",
        "let task = crate::contech::Task::create(); let job = HeapJob::new(move || unsafe {",
    ),
    (
        "scope/mod.rs",
        2,
        "execute_job(&scope.base, move || body(scope))",
        "execute_job(&scope.base, move || task.run(move || body(scope)))",
    ),
    (
        "scope/mod.rs",
        2,
        "let func = move || BroadcastContext::with(move |ctx| body(scope, ctx));",
        "let func = move || crate::contech::Task::unknown().run(move || BroadcastContext::with(move |ctx| body(scope, ctx)));",
    ),
    (
        "scope/mod.rs",
        1,
        "let registry = registry.unwrap_or_else(|| match owner {",
        "let _library = crate::contech::Library::enter(); let registry = registry.unwrap_or_else(|| match owner {",
    ),
    (
        "scope/mod.rs",
        1,
        "self.job_completed_latch.increment();\n            job.into_job_ref()",
        "let _library = crate::contech::Library::enter(); self.job_completed_latch.increment();\n            job.into_job_ref()",
    ),
    (
        "scope/mod.rs",
        1,
        "let result = unsafe { Self::execute_job_closure(self, func) };",
        "let group = crate::contech::Group::begin(); let result = unsafe { Self::execute_job_closure(self, func) }; let _library = group.join();",
    ),
    (
        "scope/mod.rs",
        1,
        "Latch::set(&(*this).job_completed_latch);",
        "let _library = crate::contech::Library::enter(); Latch::set(&(*this).job_completed_latch);",
    ),
    (
        "spawn/mod.rs",
        1,
        "registry.increment_terminate_count();\n",
        "let task = crate::contech::Task::detached(); registry.increment_terminate_count();\n",
    ),
    (
        "spawn/mod.rs",
        1,
        "registry.catch_unwind(func);",
        "task.run(|| registry.catch_unwind(func));",
    ),
    (
        "broadcast/mod.rs",
        1,
        "let latch = CountLatch::with_count(n_threads, current_thread);",
        "let group = crate::contech::Group::begin(); let latch = CountLatch::with_count(n_threads, current_thread);",
    ),
    (
        "broadcast/mod.rs",
        1,
        "latch.wait(current_thread);",
        "let _library = group.join(); latch.wait(current_thread);",
    ),
    (
        "broadcast/mod.rs",
        1,
        "registry.catch_unwind(|| BroadcastContext::with(&op));",
        "crate::contech::Task::unknown().run(|| registry.catch_unwind(|| BroadcastContext::with(&op)));",
    ),
];

/// What a task's waker and `JoinHandle` do to its state is recorded as the atomic operations that
/// it is: so a wake is an edge to the next poll, which reads the state first. Queues, lists of
/// tasks, timers and parking are tokio's own.
const TOKIO: &[Change] = &[
    (
        "runtime/task/core.rs",
        1,
        "    pub(super) state: State,\n\n    /// Pointer to next",
        "    pub(super) state: State, pub(super) turns: crate::contech::Turns,\n\n    /// Pointer to next",
    ),
    (
        "runtime/task/core.rs",
        1,
        "            Header {\n                state,\n",
        "            Header {\n                state, turns: crate::contech::Turns::generate(),\n",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "let res = poll_future(self.core(), cx);",
        "unsafe { self.header().turns.begin() }; let res = crate::contech::apart(|| poll_future(self.core(), cx));",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "let transition_res = self.state().transition_to_idle();",
        "unsafe { self.header().turns.pause() }; let transition_res = self.state().transition_to_idle();",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "                if let TransitionToIdle::Cancelled = transition_res {\n",
        "                if let TransitionToIdle::Cancelled = transition_res { unsafe { self.header().turns.begin() };\n",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "            TransitionToRunning::Cancelled => {\n",
        "            TransitionToRunning::Cancelled => { unsafe { self.header().turns.begin() };\n",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "        // By transitioning the lifecycle to `Running`, we have permission to\n",
        "        unsafe { self.header().turns.begin() }; // By transitioning the lifecycle to `Running`, we have permission to\n",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "let num_release = self.release();",
        "let turns = unsafe { self.header().turns.last() }; let num_release = self.release();",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "        if self.state().transition_to_terminal(num_release) {\n            self.dealloc();\n        }\n",
        "        if self.state().transition_to_terminal(num_release) {\n            self.dealloc();\n        } turns.end();\n",
    ),
    (
        "runtime/task/harness.rs",
        3,
        "cancel_task(self.core());",
        "crate::contech::apart(|| cancel_task(self.core()));",
    ),
    (
        "runtime/task/list.rs",
        2,
        "pub(crate) fn remove(&self, task: &Task<S>) -> Option<Task<S>> {",
        "pub(crate) fn remove(&self, task: &Task<S>) -> Option<Task<S>> { let _library = crate::contech::Library::enter();",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "        match self.state().transition_to_notified_by_val() {\n",
        "        self.header().turns.wake(); match self.state().transition_to_notified_by_val() {\n",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "        match self.state().transition_to_notified_by_ref() {\n",
        "        self.header().turns.wake(); match self.state().transition_to_notified_by_ref() {\n",
    ),
    (
        "runtime/task/harness.rs",
        1,
        "        if self.state().transition_to_notified_and_cancel() {\n",
        "        self.header().turns.wake(); if self.state().transition_to_notified_and_cancel() {\n",
    ),
    enters!("runtime/scheduler/defer.rs", "pub(crate) fn defer(&self, waker: &Waker) {"),
    (
        "runtime/scheduler/defer.rs",
        1,
        "            waker.wake();\n",
        "            crate::contech::yielded(|| waker.wake());\n",
    ),
    enters!(
        "runtime/task/list.rs",
        "unsafe fn bind_inner(&self, task: Task<S>, notified: Notified<S>) -> Option<Notified<S>>\n    where\n        S: Schedule,\n    {"
    ),
    enters!(
        "runtime/scheduler/multi_thread/worker.rs",
        "pub(super) fn schedule_task(&self, task: Notified, is_yield: bool) {"
    ),
    (
        "runtime/scheduler/multi_thread/worker.rs",
        2,
        "runtime::spawn_blocking(move || run(worker));",
        "{ let _library = crate::contech::Library::enter(); runtime::spawn_blocking(move || run(worker)); }",
    ),
    enters!(
        "runtime/scheduler/current_thread/mod.rs",
        "fn schedule(&self, task: task::Notified<Self>) {"
    ),
    (
        "runtime/scheduler/current_thread/mod.rs",
        1,
        "    woken: AtomicBool,\n",
        "    woken: AtomicBool, turns: crate::contech::Turns,\n",
    ),
    (
        "runtime/scheduler/current_thread/mod.rs",
        1,
        "                woken: AtomicBool::new(false),\n",
        "                woken: AtomicBool::new(false), turns: crate::contech::Turns::own(),\n",
    ),
    (
        "runtime/scheduler/current_thread/mod.rs",
        1,
        "let already_woken = arc_self.shared.woken.swap(true, Release);",
        "arc_self.shared.turns.wake(); let already_woken = arc_self.shared.woken.swap(true, Release);",
    ),
    (
        "runtime/scheduler/current_thread/mod.rs",
        1,
        "            'outer: loop {\n",
        "            let _serial = context.handle.local_tid.map(|_| crate::contech::Serial::new(Arc::as_ptr(&context.handle) as usize)); let mut away = None; 'outer: loop {\n",
    ),
    (
        "runtime/scheduler/current_thread/mod.rs",
        1,
        "                if handle.reset_woken() {\n",
        "                if handle.reset_woken() { away = None;\n",
    ),
    (
        "runtime/scheduler/current_thread/mod.rs",
        1,
        "                for _ in 0..handle.shared.config.event_interval {\n",
        "                away.get_or_insert_with(|| unsafe { handle.shared.turns.away() }); for _ in 0..handle.shared.config.event_interval {\n",
    ),
    (
        "runtime/park.rs",
        1,
        "    state: AtomicUsize,\n",
        "    state: AtomicUsize, turns: crate::contech::Turns,\n",
    ),
    (
        "runtime/park.rs",
        1,
        "                state: AtomicUsize::new(EMPTY),\n",
        "                state: AtomicUsize::new(EMPTY), turns: crate::contech::Turns::own(),\n",
    ),
    (
        "runtime/park.rs",
        2,
        "    fn park(&self) {\n",
        "    fn park(&self) { let _away = unsafe { self.turns.away() };\n",
    ),
    (
        "runtime/park.rs",
        2,
        "    fn park_timeout(&self, dur: Duration) {\n",
        "    fn park_timeout(&self, dur: Duration) { let _away = unsafe { self.turns.away() };\n",
    ),
    (
        "runtime/park.rs",
        1,
        "    fn unpark(&self) {\n",
        "    fn unpark(&self) { self.turns.wake(); let _library = crate::contech::Library::enter();\n",
    ),
    (
        "task/local.rs",
        1,
        "    fn tick(&self) -> bool {\n",
        "    fn tick(&self) -> bool { let _serial = crate::contech::Serial::new(Arc::as_ptr(&self.context.shared) as usize);\n",
    ),
    (
        "task/local.rs",
        1,
        "impl Drop for LocalSet {\n    fn drop(&mut self) {\n",
        "impl Drop for LocalSet {\n    fn drop(&mut self) { let _serial = crate::contech::Serial::new(Arc::as_ptr(&self.context.shared) as usize);\n",
    ),
    enters!("task/local.rs", "fn schedule(&self, task: task::Notified<Arc<Self>>) {"),
    enters!(
        "runtime/blocking/pool.rs",
        "pub(crate) fn shutdown(&mut self, timeout: Option<Duration>) {"
    ),
    enters!(
        "runtime/blocking/pool.rs",
        "fn spawn_task(&self, task: Task, rt: &Handle) -> Result<(), SpawnError> {"
    ),
];

/// The value of an option of rustc that is one word or two.
fn value<'a>(arguments: &'a [OsString], option: &str) -> Option<&'a OsStr> {
    let at = arguments.iter().position(|a| a == option)?;
    arguments.get(at + 1).map(OsString::as_os_str)
}

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
    Ok(made == changes.len())
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
    for (_, times, find, put) in changes.iter().filter(|c| Path::new(c.0) == path) {
        if text.matches(find).count() == *times {
            text = text.replace(find, put);
            made += 1;
        }
    }
    if path == Path::new("lib.rs") {
        text += &format!("\nmod contech {{\n{}}}\n", MARKS);
    }
    (text, made)
}
