//! The working set: distinct cache lines and pages touched in a stretch of time (Denning, "The
//! working set model for program behavior", 1968, with windows side by side).

use taskgraph::{Access, NestAccesses};

use crate::analysis::lines;
use crate::cache::LineIds;

/// Log2 of the bytes of a line.
const LINE_SHIFT: u32 = 6;
/// Log2 of the lines of a page: 4 KiB.
const PAGE_SHIFT: u32 = LineIds::PAGE_SHIFT;

/// Bytes of a line.
pub(crate) const LINE: u64 = 1 << LINE_SHIFT;
/// Bytes of a page.
pub(super) const PAGE: u64 = LINE << PAGE_SHIFT;

/// Number of lines of which an access needs no look at the page.
const RECENT: usize = 1 << 9;

/// A page that was touched.
#[derive(Clone, Copy, Debug, Default)]
struct Page {
    /// Number of the latest stretch it was touched in, from 1.
    stretch: u32,
    /// Its lines touched in that stretch.
    lines: u64,
    /// Its lines touched at all.
    ever: u64,
}

/// Lines and pages touched in the current stretch and in all.
#[derive(Debug)]
pub(super) struct WorkingSet {
    ids: LineIds,
    /// By number of the page.
    pages: Vec<Page>,
    stretch: u32,
    /// Lines touched in this stretch, each at the place that its number gives: most accesses are to
    /// one of them.
    recent: Box<[u64; RECENT]>,
    /// Distinct lines of the stretch.
    pub(super) lines: u64,
    /// Distinct pages of the stretch.
    pub(super) touched_pages: u64,
    /// Distinct lines so far.
    pub(super) ever: u64,
}

impl Default for WorkingSet {
    fn default() -> Self {
        Self {
            ids: LineIds::default(),
            pages: Vec::new(),
            stretch: 1,
            recent: Box::new([u64::MAX; RECENT]),
            lines: 0,
            touched_pages: 0,
            ever: 0,
        }
    }
}

impl WorkingSet {
    /// Ends the stretch.
    pub(super) fn next_stretch(&mut self) {
        self.stretch += 1;
        self.recent.fill(u64::MAX);
        (self.lines, self.touched_pages) = (0, 0);
    }

    /// An access.
    #[inline]
    pub(super) fn touch(&mut self, addr: u64, size: u64) {
        lines(addr, size, LINE_SHIFT).for_each(|line| self.touch_line(line));
    }

    /// An access and `more` further ones, each `stride` bytes on from the one before.
    pub(super) fn touch_moving(&mut self, addr: u64, size: u64, stride: u64, more: u64) {
        let (step, moved) = (stride.cast_signed(), stride.wrapping_mul(more));
        let last = addr.wrapping_add(moved);
        let far = i128::from(step) * i128::from(more);
        let (low, high) = (addr.min(last), addr.max(last));
        // Neighbours touch the same line or the next: together all lines between the ends.
        if step.unsigned_abs() <= 1 << LINE_SHIFT && i128::from(high - low) == far.abs() {
            return self.touch(low, if size == 0 { 0 } else { (high - low).saturating_add(size) });
        }
        for i in 0..=more {
            self.touch(addr.wrapping_add(stride.wrapping_mul(i)), size);
        }
    }

    /// An access, and all that follow from it with the iterations of loops: for each its stride and
    /// how many there are.
    fn touch_all(&mut self, addr: u64, size: u64, loops: &[(u64, u64)]) {
        match *loops {
            [] => self.touch(addr, size),
            [(stride, n)] => self.touch_moving(addr, size, stride, n - 1),
            [ref inner @ .., (stride, n)] => {
                for i in 0..n {
                    self.touch_all(addr.wrapping_add(stride.wrapping_mul(i)), size, inner);
                }
            }
        }
    }

    #[inline]
    fn touch_line(&mut self, line: u64) {
        let place = usize::try_from(line).unwrap_or(0) % RECENT;
        let recent = &mut self.recent[place];
        if std::mem::replace(recent, line) == line {
            return;
        }
        self.look_at(line);
    }

    fn look_at(&mut self, line: u64) {
        let bit = 1 << (line % (1 << PAGE_SHIFT));
        let number = (self.ids.id(line) >> PAGE_SHIFT) as usize;
        if number >= self.pages.len() {
            self.pages.resize(number + 1, Page::default());
        }
        let page = &mut self.pages[number];
        if page.stretch != self.stretch {
            (page.stretch, page.lines) = (self.stretch, 0);
            self.touched_pages += 1;
        }
        if page.lines & bit == 0 {
            page.lines |= bit;
            self.lines += 1;
            if page.ever & bit == 0 {
                page.ever |= bit;
                self.ever += 1;
            }
        }
    }
}

impl NestAccesses for WorkingSet {
    fn accesses(&mut self, access: &Access, loops: &[(u64, u64)]) {
        let mut loops = loops.to_vec();
        loops.sort_unstable_by_key(|l| l.0.cast_signed().unsigned_abs());
        // A loop that goes on where another one ends is a part of it.
        loops.dedup_by(|next, of| {
            let goes_on = next.0 == of.0.wrapping_mul(of.1);
            of.1 *= if goes_on { next.1 } else { 1 };
            goes_on
        });
        self.touch_all(access.addr, access.size, &loops);
    }
}
