//! The accesses of a task, many at a time, as columns: the fast way to read them.

use crate::action::Action;
use crate::compact::Compact;
use crate::error::Result;
use crate::frame::{Emission, Emitted, Emitter, Site};
use crate::op::Access;
use crate::task::Task;

/// A part of a task, in program order. All parts together say what the task's accesses and its other actions are.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Batch<'b> {
    /// Some thousand accesses whose sizes are known statically; fewer before a compact item and at the end.
    Accesses(Accesses<'b>),
    /// A long affine run, the execution of a block with accesses of recorded sizes, or another action.
    Compact(Compact<'b>),
}

/// Accesses as columns of the same length.
#[derive(Clone, Copy, Debug)]
pub struct Accesses<'b> {
    addresses: &'b [u64],
    sites: &'b [Site],
    sizes: &'b [u64],
}

impl<'b> Accesses<'b> {
    /// The first byte of each access.
    #[must_use]
    pub fn addresses(&self) -> &'b [u64] {
        self.addresses
    }

    /// The operation of each access, and whether it writes.
    #[must_use]
    pub fn sites(&self) -> &'b [Site] {
        self.sites
    }

    /// The bytes of each access at a site.
    #[must_use]
    #[inline]
    pub fn size(&self, site: Site) -> u64 {
        self.sizes.get(site.op().index()).copied().unwrap_or(0)
    }

    /// All accesses, one by one.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Access> + 'b {
        let this = *self;
        self.addresses
            .iter()
            .zip(self.sites)
            .map(move |(addr, site)| Access {
                addr: *addr,
                size: this.size(*site),
                write: site.write(),
                op: site.op(),
            })
    }
}

impl<D: AsRef<[u8]>> Task<'_, D> {
    /// Calls `f` with its accesses and other actions in program order, many at a time. Executions of blocks without
    /// accesses are not among them.
    ///
    /// ```
    /// # use taskgraph::MemOp;
    /// use taskgraph::Batch;
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let body = b.block("main", "main.c", 3, &[MemOp::load(8)]);
    /// # let main = b.context("main");
    /// # b.work(main, 0, 100, |w| (0..100_000).for_each(|i| w.block(body, &[0x1000 + 8 * i])));
    /// # let graph = b.build()?;
    /// # let task = graph.task("0:0".parse().unwrap())?;
    /// let mut lines = 0;
    /// task.for_each_batch(|batch| {
    ///     if let Batch::Accesses(accesses) = batch {
    ///         lines += accesses.addresses().iter().filter(|a| *a % 64 == 0).count();
    ///     }
    /// })?;
    /// assert_eq!(lines, 12_500);
    /// # Ok::<(), taskgraph::Error>(())
    /// ```
    ///
    /// # Errors
    /// A damaged frame; `f` has then seen the accesses before it.
    pub fn for_each_batch(&self, mut f: impl FnMut(Batch<'_>)) -> Result<()> {
        let graph = self.graph;
        let mut emitter = Emitter::lent();
        let done = graph.in_file(graph.templates()).and_then(|templates| {
            let e = Emission {
                info: graph.info(),
                score: graph.in_file(graph.score())?,
                templates,
                space: graph.space_of(self.id().context),
            };
            emitter.begin(self.block_count());
            for span in self.spans() {
                let (frame, records) = graph.in_file(graph.frame(span))?;
                let done = emitter.frame(e, &frame, records, &mut |emitted| {
                    f(match emitted {
                        Emitted::Accesses { addresses, sites } => Batch::Accesses(Accesses {
                            addresses,
                            sites,
                            sizes: &templates.sizes,
                        }),
                        Emitted::Compact(item) => Batch::Compact(item),
                    });
                });
                graph.in_file(done)?;
                graph.recycle(frame);
            }
            Ok(())
        });
        emitter.give_back();
        done
    }

    /// Calls `f` for each memory access in program order.
    ///
    /// # Errors
    /// As [`Task::for_each_batch`].
    pub fn for_each_access(&self, mut f: impl FnMut(Access)) -> Result<()> {
        self.for_each_batch(|batch| match batch {
            Batch::Accesses(accesses) => accesses.iter().for_each(&mut f),
            Batch::Compact(Compact::Action(Action::Block(block))) => block.for_each_access(&mut f),
            Batch::Compact(Compact::Action(_) | Compact::Nest(_)) => {}
            Batch::Compact(Compact::Run(run)) => {
                run.for_each_block(|block| block.for_each_access(&mut f));
            }
        })
    }
}
