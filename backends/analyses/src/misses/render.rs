//! How `misses` looks in a terminal and in CSV.

use super::{Report, Site};
use crate::heap::SiteRow;
use crate::size::Size;
use crate::view::units::{count, ratio, share};
use crate::view::{Axis, Cell, Chart, Columns, Render, Series, Table, Unit, View};

/// Sizes that fit side by side in a terminal.
const SHOWN: usize = 6;
/// Instructions drawn as curves.
const DRAWN: usize = 8;

impl Render for Report {
    fn view(&self) -> View {
        let accesses = self.points.first().map_or(0, |point| point.accesses);
        let shown = self.shown();
        let rates: Vec<String> = shown
            .iter()
            .map(|&at| {
                format!(
                    "{} {:.2}%",
                    Size::text(self.sizes[at]),
                    100.0 * ratio(self.points[at].misses, accesses)
                )
            })
            .collect();
        let preview = self.sample.map_or_else(String::new, |rate| {
            format!("Estimated from {} of the lines. ", share(rate))
        });
        View::default()
            .csv(self.everything())
            .heading("Cache misses by instruction")
            .line(format!(
                "{preview}{} lines of {} bytes looked up. Missed: {}.",
                count(accesses),
                self.line,
                rates.join(", ")
            ))
            .chart(self.curves())
            .line("Share of the misses at each size:")
            .line("")
            .table(self.instruction_table(&shown).text_rows(self.top))
            .heading("By allocation site")
            .table(self.site_table(&shown).text_rows(self.top))
    }
}

impl Report {
    /// Misses of the instructions that miss most, by size.
    fn curves(&self) -> Chart {
        #[expect(clippy::cast_precision_loss, reason = "to be drawn")]
        let points = |misses: &[u64]| {
            let pairs = self.sizes.iter().zip(misses);
            pairs.map(|(&size, &misses)| (size as f64, misses as f64)).collect()
        };
        let curves = self.instructions.iter().take(DRAWN).map(|row| Series {
            name: format!("{} {}", row.access, row.place.short()),
            points: points(&row.misses),
        });
        Chart::Lines {
            title: "Misses of the instructions that miss most, by cache size".to_owned(),
            x: Axis::new("cache size", Unit::Bytes).log2(),
            y: Axis::new("misses", Unit::Count),
            steps: false,
            series: curves.collect(),
        }
    }

    /// Indices of the sizes to show: all, or some evenly from the first to the last.
    fn shown(&self) -> Vec<usize> {
        let sizes = self.sizes.len();
        if sizes <= SHOWN {
            (0..sizes).collect()
        } else {
            (0..SHOWN).map(|at| at * (sizes - 1) / (SHOWN - 1)).collect()
        }
    }

    /// Adds the share of the misses at each size, and where the row fits.
    fn shares<R>(
        &self,
        shown: &[usize],
        mut columns: Columns<R>,
        of: impl Fn(&R) -> (&Vec<u64>, Option<u64>),
    ) -> Table {
        for &at in shown {
            let size = Size::text(self.sizes[at]);
            let all = self.points[at].misses;
            columns = columns.share(&size, &size, |row| ratio(of(row).0[at], all));
        }
        let fits = |row: &R| of(row).1.map_or("-".to_owned(), Size::text);
        columns.text("fits in", "fits in", fits).table()
    }

    fn instruction_table(&self, shown: &[usize]) -> Table {
        let columns = Table::of(&self.instructions)
            .function("function", "function", |row| row.place.function.clone())
            .text("place", "place", |row| row.place.short())
            .text("access", "access", |row| row.access)
            .count("lines looked up", "lines looked up", |row| row.accesses);
        self.shares(shown, columns, |row| (&row.misses, row.fits))
    }

    fn site_table(&self, shown: &[usize]) -> Table {
        let some =
            |row: &&Site, cell: fn(&SiteRow) -> Cell| row.site.as_ref().map_or(Cell::Empty, cell);
        let columns = Table::of(&self.sites)
            .cell("allocated by", "allocated by", |row| match &row.site {
                Some(site) => Cell::Function(site.place.function.clone()),
                None => Cell::Text("(static data, stacks, unrecorded)".to_owned()),
            })
            .cell("place", "place", |row| some(row, |site| Cell::Text(site.place.short())))
            .cell("call", "call", |row| some(row, |site| Cell::Text(site.callee.clone())))
            .cell("allocations", "allocations", |row| {
                some(row, |site| Cell::Count(site.allocations))
            })
            .cell("bytes", "bytes", |row| some(row, |site| Cell::Bytes(site.bytes)));
        self.shares(shown, columns, |row| (&row.misses, row.fits))
    }

    /// Instructions and sites, with the misses at every size.
    fn everything(&self) -> Table {
        let instructions = self.instructions.iter().map(|row| {
            let about = Some((&row.place, row.access, Some(row.accesses)));
            ("instruction", about, &row.misses, row.share, row.fits)
        });
        let sites = self.sites.iter().map(|row| {
            let about = row.site.as_ref().map(|site| (&site.place, site.callee.as_str(), None));
            ("site", about, &row.misses, row.share, row.fits)
        });
        let mut columns = Table::of(instructions.chain(sites))
            .text("kind", "kind", |row| row.0)
            .cell("function", "function", |row| {
                row.1.map_or(Cell::Empty, |about| Cell::Function(about.0.function.clone()))
            })
            .cell("file", "file", |row| {
                row.1.map_or(Cell::Empty, |about| Cell::Text(about.0.file.clone()))
            })
            .cell("line", "line", |row| {
                row.1.map_or(Cell::Empty, |about| Cell::Count(about.0.line.into()))
            })
            .cell("access", "access", |row| {
                row.1.map_or(Cell::Empty, |about| Cell::Text(about.1.to_owned()))
            })
            .cell("accesses", "accesses", |row| {
                row.1.and_then(|about| about.2).map_or(Cell::Empty, Cell::Count)
            });
        for (at, &size) in self.sizes.iter().enumerate() {
            let name = format!("misses_{}", Size::text(size));
            columns = columns.count(&name, &name, |row| row.2[at]);
        }
        columns
            .share("share", "share", |row| row.3)
            .cell("fits", "fits", |row| row.4.map_or(Cell::Empty, Cell::Bytes))
            .table()
    }
}
