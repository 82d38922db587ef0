//! Longest paths with what lies on them: a tree of profiles that share their beginnings.
//!
//! Where the graph forks, both sides go on from one path. Where edges meet, the longer path is
//! kept, and the other one is given back. A node with one user absorbs the node before it (a UNION
//! of amortised constant time), so the tree has at most about twice as many nodes as there are
//! paths in use.

use workspan::Measure;

use crate::summed::Summed;

const NONE: u32 = u32::MAX;

/// A path in use, which must be given back with [`Paths::release`]. The default is none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PathId(u32);

#[derive(Debug, Default)]
struct Node {
    before: u32,
    /// Number of paths that end here and of nodes that come after.
    users: u32,
    /// How many of them are nodes, and the exclusive or of their numbers, which is the number of
    /// the node if there is only one.
    after: u32,
    after_xor: u32,
    /// What lies on this part of the path.
    profile: Profile,
}

/// Measures by key. Most parts of paths have one entry.
type Profile = Summed<u32, Measure>;

/// All paths.
#[derive(Debug, Default)]
pub(super) struct Paths {
    nodes: Vec<Node>,
    free: Vec<u32>,
}

impl Paths {
    /// A path with nothing on it.
    pub(super) fn empty(&mut self) -> PathId {
        PathId(self.node(NONE))
    }

    /// The same path, for another user.
    pub(super) fn share(&mut self, path: &PathId) -> PathId {
        self.nodes[path.0 as usize].users += 1;
        PathId(path.0)
    }

    /// Adds to what lies on the path under `key`.
    pub(super) fn add(&mut self, path: &mut PathId, key: u32, measure: Measure) {
        if self.nodes[path.0 as usize].users > 1 {
            // The path's share of the old node now belongs to the new node.
            let new = self.node(path.0);
            let old = &mut self.nodes[path.0 as usize];
            old.after += 1;
            old.after_xor ^= new;
            path.0 = new;
        }
        self.nodes[path.0 as usize].profile.add(key, measure);
    }

    /// Gives a path back.
    #[allow(clippy::needless_pass_by_value, reason = "it is used no more")]
    pub(super) fn release(&mut self, path: PathId) {
        let mut at = path.0;
        loop {
            let node = &mut self.nodes[at as usize];
            node.users -= 1;
            if node.users > 0 {
                if node.users == 1 && node.after == 1 {
                    let only = node.after_xor;
                    self.absorb(only, at);
                }
                return;
            }
            node.profile = Profile::default();
            self.free.push(at);
            let before = node.before;
            if before == NONE {
                return;
            }
            let node = &mut self.nodes[before as usize];
            node.after -= 1;
            node.after_xor ^= at;
            at = before;
        }
    }

    /// Calls `each` with what lies on the path, by ascending key, and gives the path back.
    pub(super) fn print(&mut self, path: PathId, mut each: impl FnMut(u32, Measure)) {
        let (mut all, mut at) = (Profile::default(), path.0);
        while at != NONE {
            let node = &self.nodes[at as usize];
            node.profile.0.iter().for_each(|&(key, measure)| all.add(key, measure));
            at = node.before;
        }
        all.settle();
        self.release(path);
        all.0.into_iter().for_each(|(key, measure)| each(key, measure));
    }

    /// Nodes in use.
    #[cfg(test)]
    fn used(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    fn node(&mut self, before: u32) -> u32 {
        let new = Node { before, users: 1, ..Node::default() };
        if let Some(at) = self.free.pop() {
            self.nodes[at as usize] = new;
            return at;
        }
        self.nodes.push(new);
        u32::try_from(self.nodes.len() - 1).unwrap_or(NONE - 1)
    }

    /// Lets `at` absorb the node before it, which has no other user.
    fn absorb(&mut self, at: u32, before: u32) {
        let mut less = std::mem::take(&mut self.nodes[before as usize].profile);
        let profile = &mut self.nodes[at as usize].profile;
        if less.0.len() > profile.0.len() {
            std::mem::swap(profile, &mut less);
        }
        for (key, measure) in less.0 {
            profile.add(key, measure);
        }
        let next = self.nodes[before as usize].before;
        self.nodes[at as usize].before = next;
        self.free.push(before);
        if next != NONE {
            self.nodes[next as usize].after_xor ^= before ^ at;
        }
    }
}

#[cfg(test)]
mod tests {
    use workspan::Sum;

    use super::*;

    fn one(span: u64) -> Measure {
        Measure { local: Sum::one(span, span), ..Measure::default() }
    }

    #[test]
    fn a_million_hand_overs_leave_a_few_nodes() {
        let mut paths = Paths::default();
        let mut tips = [paths.empty(), paths.empty(), paths.empty()];
        for round in 0..1_000_000u32 {
            let (from, to) = (round as usize % 3, (round as usize + 1) % 3);
            paths.add(&mut tips[from], round % 7, one(1));
            let kept = paths.share(&tips[from]);
            let old = std::mem::replace(&mut tips[to], kept);
            paths.release(old);
        }
        assert!(paths.used() < 10, "{} nodes", paths.used());
    }
}
