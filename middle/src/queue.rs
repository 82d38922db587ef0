//! A first-in first-out queue of any length in bounded memory. Its middle is in the temporary file.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::Result;
use crate::spill::Spill;

/// Number of entries of a block in the temporary file.
const BLOCK: usize = 4096;

/// A queue of numbers; at most two blocks of it are in memory.
#[derive(Debug)]
pub(crate) struct SpillQueue {
    spill: Arc<Spill>,
    front: VecDeque<u64>,
    middle: VecDeque<u64>,
    back: Vec<u64>,
}

impl SpillQueue {
    pub(crate) fn new(spill: &Arc<Spill>) -> Self {
        SpillQueue {
            spill: Arc::clone(spill),
            front: VecDeque::new(),
            middle: VecDeque::new(),
            back: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, value: u64) -> Result<()> {
        if self.middle.is_empty() && self.back.is_empty() && self.front.len() < BLOCK {
            self.front.push_back(value);
            return Ok(());
        }
        self.back.push(value);
        if self.back.len() == BLOCK {
            let bytes: Vec<u8> = self.back.iter().flat_map(|v| v.to_le_bytes()).collect();
            self.middle.push_back(self.spill.append(&bytes)?);
            self.back.clear();
        }
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Result<Option<u64>> {
        if self.front.is_empty() {
            if let Some(at) = self.middle.pop_front() {
                let mut bytes = vec![0; 8 * BLOCK];
                self.spill.read(&mut bytes, at)?;
                let (words, _) = bytes.as_chunks::<8>();
                self.front.extend(words.iter().map(|w| u64::from_le_bytes(*w)));
            } else {
                self.front.extend(self.back.drain(..));
            }
        }
        Ok(self.front.pop_front())
    }

    pub(crate) fn clear(&mut self) {
        self.front.clear();
        self.middle.clear();
        self.back.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_leave_in_the_order_they_came_however_many_wait() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Arc::new(Spill::beside(&folder.path().join("x")));
        let mut queue = SpillQueue::new(&spill);
        let (mut pushed, mut popped) = (0u64, 0u64);
        for round in 0..6u64 {
            for _ in 0..(round + 1) * 7000 {
                queue.push(pushed).unwrap();
                pushed += 1;
            }
            for _ in 0..round * 5000 {
                assert_eq!(queue.pop().unwrap(), Some(popped));
                popped += 1;
            }
        }
        while let Some(v) = queue.pop().unwrap() {
            assert_eq!(v, popped);
            popped += 1;
        }
        assert_eq!(popped, pushed);
        assert!(spill.len() > 0);
    }
}
