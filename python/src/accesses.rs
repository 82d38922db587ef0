//! Batches of accesses, read ahead by a thread.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use contech_backends::analysis::Graph;
use contech_backends::tables::number;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use taskgraph::{ContextId, Piece, Reader};

use crate::column::{Numbers, columns};
use crate::failed;

/// Batches that wait for Python.
const AHEAD: usize = 2;

/// Some accesses, as columns.
#[derive(Debug, Default)]
struct Rows {
    task: Vec<i64>,
    address: Vec<u64>,
    bytes: Vec<u64>,
    write: Vec<bool>,
    operation: Vec<u32>,
}

impl Rows {
    fn piece(&mut self, task: i64, piece: &Piece<'_>) {
        match piece {
            Piece::Blocks(blocks) => {
                let accesses = blocks.accesses();
                let sites = accesses.sites();
                self.address.extend_from_slice(accesses.addresses());
                self.bytes.extend((0..accesses.len()).map(|at| accesses.size(at)));
                self.write.extend(sites.iter().map(|site| site.write()));
                self.operation.extend(sites.iter().map(|site| site.op().get()));
            }
            Piece::Run(run) => run.for_each_access(|access| {
                self.address.push(access.addr);
                self.bytes.push(access.size);
                self.write.push(access.write);
                self.operation.push(access.op.get());
            }),
            _ => {}
        }
        self.task.resize(self.address.len(), task);
    }
}

/// The accesses of contexts, batch by batch.
#[pyclass(frozen, module = "contech._contech")]
#[derive(Debug)]
pub(crate) struct Accesses(Mutex<Receiver<taskgraph::Result<Rows>>>);

impl Accesses {
    /// The accesses of these contexts one after the other, in program order, in batches of about so
    /// many rows.
    pub(crate) fn new(graph: Arc<Graph>, contexts: Vec<ContextId>, rows: usize) -> Self {
        let (send, receive) = sync_channel(AHEAD);
        thread::spawn(move || {
            let read = || -> taskgraph::Result<()> {
                let mut reader = Reader::new(&graph, 1);
                let mut own = Rows::default();
                for context in contexts {
                    for task in graph.tasks_of(context) {
                        let task = task?;
                        let id = number(task.id()).cast_signed();
                        reader.open(&task);
                        while let Some(batch) = reader.next()? {
                            for piece in batch.pieces() {
                                own.piece(id, &piece);
                                if own.address.len() >= rows {
                                    // Nobody wants the rest.
                                    if send.send(Ok(std::mem::take(&mut own))).is_err() {
                                        return Ok(());
                                    }
                                }
                            }
                        }
                    }
                }
                if !own.address.is_empty() {
                    let _ = send.send(Ok(own));
                }
                Ok(())
            };
            if let Err(error) = read() {
                let _ = send.send(Err(error));
            }
        });
        Self(Mutex::new(receive))
    }
}

#[pymethods]
impl Accesses {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let next = py.detach(|| {
            let receive = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            receive.recv().ok()
        });
        let Some(rows) = next.transpose().map_err(|error| failed(&error.into()))? else {
            return Ok(None);
        };
        let rows = [
            ("task", Numbers::I64(rows.task)),
            ("address", Numbers::U64(rows.address)),
            ("bytes", Numbers::U64(rows.bytes)),
            ("write", Numbers::Bool(rows.write)),
            ("operation", Numbers::U32(rows.operation)),
        ];
        columns(py, rows).map(Some)
    }
}
