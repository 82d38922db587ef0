//! The smallest of several fully associative LRU caches that holds a line, for a stream of lines.
//!
//! One list holds all lines, the most recent first; a cache of C lines holds the first C of the
//! list. Each line knows the smallest cache that holds it, and each cache its oldest line. A line
//! that comes to the front pushes one line out of every cache that did not hold it, and nothing
//! else changes (bounded groups: Kim, Hill and Wood, "Implementing stack simulation for
//! highly-associative memories", SIGMETRICS 1991). The time is proportional to the number of caches
//! that missed.

/// A line of the list.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The line touched after it; 0 for the newest.
    newer: u32,
    /// The line touched before it; 0 for the oldest.
    older: u32,
    /// 1 + the index of the smallest cache that holds it (1 + the number of caches, if none does);
    /// 0 if it was never touched.
    group: u32,
}

/// Lines in order of recency, for caches of some capacities.
#[derive(Debug)]
pub struct RecencyGroups {
    /// Lines each cache holds, ascending, all different.
    capacities: Vec<u64>,
    /// The nodes by number of the line; number 0 stands for no line.
    nodes: Vec<Node>,
    /// The oldest line in each cache that is full.
    oldest_in: Vec<u32>,
    newest: u32,
    oldest: u32,
    /// Lines in the list.
    len: u64,
}

impl RecencyGroups {
    /// Empty caches of these capacities in lines, which ascend, are all different, and are at
    /// least 1.
    #[must_use]
    pub fn new(capacities: Vec<u64>) -> Self {
        Self {
            oldest_in: Vec::with_capacity(capacities.len()),
            capacities,
            nodes: vec![Node::default()],
            newest: 0,
            oldest: 0,
            len: 0,
        }
    }

    /// Number of lines ever touched.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.len
    }

    /// One more than the largest number of a line.
    pub(super) fn places(&self) -> usize {
        self.nodes.len()
    }

    /// The lines, the one first that was not touched for the longest time.
    pub(super) fn by_age(&self) -> impl Iterator<Item = u32> + '_ {
        let some = |line: u32| Some(line).filter(|line| *line != 0);
        let newer = move |line: &u32| some(self.nodes[*line as usize].newer);
        std::iter::successors(some(self.oldest), newer)
    }

    /// Touches the line with a number (not 0; the numbers should be dense). Returns the index of
    /// the smallest cache that held it, or the number of caches if none did; `None` if it was never
    /// touched before.
    #[inline]
    pub fn touch(&mut self, line: u32) -> Option<usize> {
        if line == self.newest {
            return Some(0);
        }
        if self.nodes.len() <= line as usize {
            self.nodes.resize(line as usize + 64, Node::default());
        }
        let node = self.nodes[line as usize];
        if node.group == 0 {
            self.link(line);
            self.push_out(self.oldest_in.len());
            self.len += 1;
            if self.capacities.get(self.oldest_in.len()) == Some(&self.len) {
                self.oldest_in.push(self.oldest);
            }
            return None;
        }
        let group = node.group as usize - 1;
        if let Some(oldest) = self.oldest_in.get_mut(group)
            && *oldest == line
        {
            *oldest = node.newer;
        }
        self.nodes[node.newer as usize].older = node.older;
        if node.older == 0 {
            self.oldest = node.newer;
        } else {
            self.nodes[node.older as usize].newer = node.newer;
        }
        self.link(line);
        self.push_out(group);
        Some(group)
    }

    /// Puts a line at the front.
    #[inline]
    fn link(&mut self, line: u32) {
        self.nodes[line as usize] = Node { newer: 0, older: self.newest, group: 1 };
        if self.newest == 0 {
            self.oldest = line;
        } else {
            self.nodes[self.newest as usize].newer = line;
        }
        self.newest = line;
    }

    /// Each of the first `caches` caches loses its oldest line to the new one at the front.
    #[inline]
    fn push_out(&mut self, caches: usize) {
        for (oldest, next) in self.oldest_in[..caches].iter_mut().zip(2..) {
            let out = &mut self.nodes[*oldest as usize];
            out.group = next;
            *oldest = out.newer;
        }
    }
}
