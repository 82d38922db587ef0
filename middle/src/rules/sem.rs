//! Counting semaphores: units are taken first in, first out. The wait that takes a posted unit
//! comes after the post.

use std::sync::Arc;

use super::{Event, Rule};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;
use crate::spill::Spill;
use crate::tape::{Tape, TapeReader};
use crate::varint::{get, put};

/// Bytes of posts that are read at a time.
const WINDOW: usize = 1 << 12;
/// Largest number of bytes of a post.
const NUMBER: usize = 10;

#[derive(Debug)]
pub(super) struct Sem {
    spill: Arc<Spill>,
    /// Number of units that are left of the initial value, which no context posted.
    initial: u64,
    /// The posts, of which units were taken up to where the reader is. They begin anew when none is
    /// left.
    posts: Tape,
    taken: TapeReader,
}

impl Sem {
    pub(super) fn new(spill: &Arc<Spill>) -> Self {
        let (spill, posts) = (Arc::clone(spill), Tape::new(spill, 0));
        Sem { spill, initial: 0, posts, taken: TapeReader::default() }
    }

    /// The first post whose unit was not taken yet.
    fn take(&mut self) -> Result<Option<Place>> {
        self.taken.go_on_to(self.posts.len());
        if self.taken.is_at_end() {
            return Ok(None);
        }
        self.taken.fill(&self.posts, NUMBER, WINDOW)?;
        let (bytes, at) = self.taken.parts();
        let post = Place::from_bits(get(bytes, at)?);
        if self.taken.is_at_end() {
            *self = Self { initial: self.initial, ..Self::new(&self.spill) };
        }
        Ok(Some(post))
    }
}

impl Rule for Sem {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if !event.waits() {
            return self.posts.append(|out| put(out, event.at.bits()));
        }
        if self.initial > 0 {
            self.initial -= 1;
        } else if let Some(post) = self.take()? {
            out.edge(post, event.at)?;
        }
        // Otherwise the wait took a unit of an initial value that was not recorded, so nothing that
        // is known comes before it.
        Ok(())
    }

    fn cut(&mut self, init: Option<u64>, _out: &mut Edges) -> Result<()> {
        *self = Self { initial: init.unwrap_or(0), ..Self::new(&self.spill) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_taken_in_the_order_they_came_however_many_wait() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Arc::new(Spill::beside(&folder.path().join("x")));
        let mut sem = Sem::new(&spill);
        let (mut posted, mut taken) = (0, 0);
        for round in 0..6 {
            for _ in 0..(round + 1) * 20_000 {
                sem.posts.append(|out| put(out, posted)).unwrap();
                posted += 1;
            }
            let last = if round == 3 || round == 5 { posted } else { taken + round * 15_000 };
            while taken < last {
                assert_eq!(sem.take().unwrap(), Some(Place::from_bits(taken)));
                taken += 1;
            }
        }
        assert_eq!((sem.take().unwrap(), taken), (None, posted));
        assert!(spill.len() > 0);
    }
}
