//! Writes segments of one function, and knows what is known between them, as a recording does.

use std::sync::Arc;

use contech_program::Layout;
use contech_program::path::{CompiledFunction, CompiledPath, Recorded, State, Walk};
use taskgraph::path::{Path, PathFunction, PathTable};
use taskgraph::{
    Block, Context, ContextId, Counts, EncodedFrame, FrameEncoder, FrameSpan, Function,
    GraphWriter, MemOp, Module, RunMeta, Segment, StaticInfo, TaskGraph, TaskId, TaskRecord,
};

/// The tables of one function whose blocks have so many of these operations, one after the other.
pub(crate) fn info_of(blocks: &[u32], ops: Vec<MemOp>) -> Arc<StaticInfo> {
    let mut first_op = 0;
    let block = |&op_count: &u32| {
        first_op += op_count;
        Block { first_op: first_op - op_count, op_count, ..Block::default() }
    };
    Arc::new(StaticInfo {
        modules: vec![Module::default()],
        files: vec!["a.c".into()],
        functions: vec![Function::default()],
        blocks: blocks.iter().map(block).collect(),
        ops,
        ..StaticInfo::default()
    })
}

pub(crate) struct Recorder {
    pub(crate) encoder: FrameEncoder,
    info: Arc<StaticInfo>,
    table: Arc<PathTable>,
    function: CompiledFunction,
    state: State,
}

impl Recorder {
    pub(crate) fn new(info: &Arc<StaticInfo>, function: &PathFunction, paths: usize) -> Self {
        let table = PathTable::new(info, vec![function.clone().into()], paths).unwrap();
        let table = Arc::new(table);
        Self {
            encoder: FrameEncoder::with_paths(Arc::clone(&table)),
            info: Arc::clone(info),
            table,
            function: CompiledFunction::new(function, info, &Layout::new(info)),
            state: State::default(),
        }
    }

    pub(crate) fn segment(
        &mut self,
        (number, path): (u32, Option<Path>),
        bytes: &[u8],
        counts: &[u64],
    ) -> bool {
        let segment = Segment { path: number, bytes, counts };
        let mut before = self.state.clone();
        let encoder = &mut self.encoder;
        if !encoder.segment(segment, || &mut before, || path.clone()) {
            return false;
        }
        let path = CompiledPath::new(path.unwrap(), &self.function);
        if path.path.fresh {
            self.state.begin(&self.function);
        }
        let mut walk = Walk::default();
        let f = &self.function;
        self.state.follow(&path, f, Recorded::new(bytes, counts), &mut walk, |_, _| {});
        true
    }

    /// A writer with these frames, and their places.
    pub(crate) fn written(&self, frames: Vec<EncodedFrame>) -> (GraphWriter, Vec<FrameSpan>) {
        let mut writer = GraphWriter::in_memory(Arc::clone(&self.info)).unwrap();
        let whole = frames.into_iter().map(|frame| FrameSpan {
            records: frame.record_count(),
            first_record: 0,
            frame: writer.put_frame(frame).unwrap(),
        });
        let spans = whole.collect();
        // The encoder has described the paths to the table.
        writer.set_paths(&self.table, |_| None).unwrap();
        (writer, spans)
    }

    /// A graph of one task with these frames, and with the one that has not ended.
    pub(crate) fn graph(&mut self, mut frames: Vec<EncodedFrame>) -> TaskGraph<Vec<u8>> {
        frames.extend(self.encoder.finish());
        let (writer, spans) = self.written(frames);
        graph_of(writer, &[record(0, spans, self.encoder.counts())])
    }
}

/// A task of context 0 that counts so much in these frames.
pub(crate) fn record(seq: u32, frames: Vec<FrameSpan>, counts: Counts) -> TaskRecord {
    TaskRecord { id: TaskId::new(ContextId::new(0), seq), frames, counts, ..TaskRecord::default() }
}

/// The graph of the tasks of context 0.
pub(crate) fn graph_of(mut writer: GraphWriter, tasks: &[TaskRecord]) -> TaskGraph<Vec<u8>> {
    for record in tasks {
        writer.put_task(record, &[]).unwrap();
        writer.put_order(record.id).unwrap();
    }
    let context = Context {
        id: ContextId::new(0),
        task_count: u32::try_from(tasks.len()).unwrap(),
        ..Context::default()
    };
    let bytes = writer.finish_in_memory(vec![context], RunMeta::default());
    let graph = TaskGraph::from_bytes(bytes.unwrap()).unwrap();
    graph.verify().unwrap();
    graph
}
