//! Futexes: the kernel says how many waiters a wake has woken. Each of these waiters comes after
//! the wake.

use std::collections::VecDeque;

use super::{Event, Forgets};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

/// Number of wakes that are kept until all their waiters were seen. If there are more, their
/// waiters are not recorded.
const MOST: usize = 4096;

/// The wakes of a futex, each with the number of waiters that have not returned yet.
#[derive(Debug, Default)]
pub(super) struct Futex(VecDeque<(u64, Place)>);

impl Forgets for Futex {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if event.waits() {
            let Some((left, wake)) = self.0.front_mut() else {
                return Ok(());
            };
            out.edge(*wake, event.at)?;
            *left -= 1;
            if *left == 0 {
                self.0.pop_front();
            }
        } else if event.aux > 0 {
            if self.0.len() == MOST {
                self.0.pop_front();
            }
            self.0.push_back((event.aux, event.at));
        }
        Ok(())
    }
}
