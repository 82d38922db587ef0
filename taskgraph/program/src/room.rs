//! Tables with room for many things, of which few are there.

use std::sync::OnceLock;

/// Number of things that get their memory together.
const GROUP: usize = 64;

/// Things by number, made when they are first asked for. A program has millions of paths and takes
/// some thousands, so the numbers that are not used take half a byte each.
#[derive(Debug)]
pub struct Room<T> {
    groups: Vec<OnceLock<Box<[OnceLock<T>]>>>,
    size: usize,
}

impl<T> Default for Room<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T> Room<T> {
    /// Room for things with the numbers below `size`.
    #[must_use]
    pub fn new(size: usize) -> Self {
        let mut room = Self { groups: Vec::new(), size: 0 };
        room.grow(size);
        room
    }

    /// Makes room for this many more.
    pub fn grow(&mut self, more: usize) {
        self.size += more;
        let groups = self.size.div_ceil(GROUP);
        self.groups.resize_with(groups, OnceLock::new);
    }

    /// How many there is room for.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// A thing that is there.
    #[inline]
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&T> {
        self.groups.get(at / GROUP)?.get()?[at % GROUP].get()
    }

    /// A thing that is there, to be changed.
    #[inline]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.groups.get_mut(at / GROUP)?.get_mut()?[at % GROUP].get_mut()
    }

    /// The thing with a number, which is made if it is not there. There is none without room.
    #[inline]
    pub fn get_or_init(&self, at: usize, make: impl FnOnce() -> T) -> Option<&T> {
        let group = self.groups.get(at / GROUP).filter(|_| at < self.size)?;
        Some(group.get_or_init(empty)[at % GROUP].get_or_init(make))
    }

    /// [`Room::get_or_init`], to be changed.
    #[inline]
    pub fn get_mut_or_init(&mut self, at: usize, make: impl FnOnce() -> T) -> Option<&mut T> {
        let group = self.groups.get_mut(at / GROUP).filter(|_| at < self.size)?;
        if group.get_mut().is_none() {
            *group = OnceLock::from(empty());
        }
        let thing = &mut group.get_mut()?[at % GROUP];
        if thing.get_mut().is_none() {
            *thing = OnceLock::from(make());
        }
        thing.get_mut()
    }
}

#[cold]
fn empty<T>() -> Box<[OnceLock<T>]> {
    (0..GROUP).map(|_| OnceLock::new()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_made_once_and_only_where_there_is_room() {
        let mut room = Room::new(GROUP - 1);
        assert_eq!(room.get_or_init(GROUP - 1, || 7), None);
        room.grow(2);
        assert_eq!(room.size(), GROUP + 1);
        assert_eq!((room.get(GROUP), room.get(GROUP + 1)), (None, None));
        assert_eq!(room.get_or_init(GROUP, || 7), Some(&7));
        assert_eq!(room.get_or_init(GROUP, || 8), Some(&7));
        assert_eq!(room.get_mut_or_init(0, || 1), Some(&mut 1));
        assert_eq!((room.get(0), room.get(1)), (Some(&1), None));
        for outside in [GROUP + 1, 2 * GROUP, usize::MAX] {
            assert_eq!(room.get_or_init(outside, || 9), None);
            assert_eq!(room.get_mut_or_init(outside, || 9), None);
            assert_eq!(room.get_mut(outside), None);
        }
    }
}
