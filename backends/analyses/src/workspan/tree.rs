//! Calling contexts: which function called which other from where, with recursion folded.
//!
//! A call from a function that is already further up hangs below its outermost invocation, so the
//! tree has no more nodes than there are paths without recursion. Profiles are kept by node; call
//! sites and flame graphs are sums over nodes.

use rustc_hash::FxHashMap;
use taskgraph::{BlockId, FunctionId};

/// Number of nodes that keep their path; calls beyond it hang below the root.
const MOST_NODES: usize = 1 << 16;

/// What invoked a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SiteKey {
    /// The program itself.
    Program,
    /// A call at the end of a block.
    Call(BlockId),
    /// The creation of a context at the end of a block.
    Spawn(BlockId),
    /// Code that was not recorded: `main`, signal handlers, destructors.
    Outside(FunctionId),
    /// The creation of a context by code that was not recorded.
    SpawnOutside,
}

impl SiteKey {
    /// What invoked a function, or created the context that it is the first one of: the block whose
    /// call did, if it is recorded.
    #[must_use]
    pub fn of(call: Option<BlockId>, function: Option<FunctionId>, creates: bool) -> Self {
        match (call, function) {
            (Some(call), _) if creates => Self::Spawn(call),
            (Some(call), _) => Self::Call(call),
            (None, Some(function)) => Self::Outside(function),
            (None, None) if creates => Self::SpawnOutside,
            (None, None) => Self::Program,
        }
    }
}

/// A calling context.
#[derive(Clone, Debug)]
pub struct Node {
    /// The calling context that it hangs below; the root's is itself.
    pub parent: u32,
    /// Index of the call site.
    pub site: u32,
    /// The invoked function, if it was recorded.
    pub function: Option<FunctionId>,
    /// The outermost node on the way up that has the same function; its calls hang there.
    pub home: u32,
}

/// The tree and the call sites in it.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    children: FxHashMap<(u32, u32, Option<FunctionId>), u32>,
    sites: Vec<SiteKey>,
    site_ids: FxHashMap<SiteKey, u32>,
}

impl Default for Tree {
    fn default() -> Self {
        let mut tree = Self {
            nodes: Vec::new(),
            children: FxHashMap::default(),
            sites: Vec::new(),
            site_ids: FxHashMap::default(),
        };
        let site = tree.site(SiteKey::Program);
        tree.nodes.push(Node { parent: Self::ROOT, site, function: None, home: Self::ROOT });
        tree
    }
}

impl Tree {
    /// The program.
    pub const ROOT: u32 = 0;

    /// The number of a call site.
    pub fn site(&mut self, key: SiteKey) -> u32 {
        let next = u32::try_from(self.sites.len()).unwrap_or(u32::MAX);
        let id = *self.site_ids.entry(key).or_insert(next);
        if id == next {
            self.sites.push(key);
        }
        id
    }

    /// All call sites.
    #[must_use]
    pub fn sites(&self) -> &[SiteKey] {
        &self.sites
    }

    /// All nodes, parents first.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node of `function` invoked at `site` from the calling context `from`.
    pub fn child(&mut self, from: u32, site: u32, function: Option<FunctionId>) -> u32 {
        let mut parent = self.nodes[from as usize].home;
        let key = (parent, site, function);
        if let Some(&known) = self.children.get(&key) {
            return known;
        }
        if self.nodes.len() >= MOST_NODES {
            parent = Self::ROOT;
            if let Some(&known) = self.children.get(&(parent, site, function)) {
                return known;
            }
        }
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(Node {
            parent,
            site,
            function,
            home: self.home_below(parent, function).unwrap_or(id),
        });
        self.children.insert((parent, site, function), id);
        id
    }

    fn home_below(&self, parent: u32, function: Option<FunctionId>) -> Option<u32> {
        function?;
        let (mut at, mut found) = (parent, None);
        while at != Self::ROOT {
            let node = &self.nodes[at as usize];
            if node.function == function {
                found = Some(at);
            }
            at = node.parent;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_hangs_below_the_outermost_invocation() {
        let mut tree = Tree::default();
        let [fib, main] = [0, 1].map(|f| Some(FunctionId::new(f)));
        let [outside, first, second] = [
            SiteKey::Outside(FunctionId::new(1)),
            SiteKey::Spawn(BlockId::new(4)),
            SiteKey::Call(BlockId::new(5)),
        ]
        .map(|key| tree.site(key));
        let main = tree.child(Tree::ROOT, outside, main);
        let top = tree.child(main, second, fib);
        let spawned = tree.child(top, first, fib);
        assert_eq!(tree.child(spawned, first, fib), spawned);
        let called = tree.child(spawned, second, fib);
        assert_eq!(tree.child(called, first, fib), spawned);
        assert_eq!(tree.nodes()[called as usize].parent, top);
        assert_eq!(tree.nodes().len(), 5);
    }
}
