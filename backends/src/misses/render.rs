//! How `misses` looks in a terminal and in CSV.

use super::{Instruction, Report, Site};
use crate::size::Size;
use crate::view::units::{count, ratio, share};
use crate::view::{Axis, Cell, Chart, Render, Series, Table, Unit, View};

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
            pairs
                .map(|(&size, &misses)| (size as f64, misses as f64))
                .collect()
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
            (0..SHOWN)
                .map(|at| at * (sizes - 1) / (SHOWN - 1))
                .collect()
        }
    }

    fn shares<'r>(
        &'r self,
        shown: &'r [usize],
        misses: &'r [u64],
    ) -> impl Iterator<Item = Cell> + 'r {
        shown
            .iter()
            .map(|&at| Cell::Share(ratio(misses[at], self.points[at].misses)))
    }

    fn instruction_table(&self, shown: &[usize]) -> Table {
        let words = ["function", "place", "access", "lines looked up"].map(str::to_owned);
        let sizes = shown.iter().map(|&at| Size::text(self.sizes[at]));
        let rows = self.instructions.iter().map(|row: &Instruction| {
            let words = [
                Cell::Function(row.place.function.clone()),
                Cell::Text(row.place.short()),
                Cell::from(row.access),
                Cell::Count(row.accesses),
            ];
            words
                .into_iter()
                .chain(self.shares(shown, &row.misses))
                .chain([fits(row.fits)])
                .collect::<Vec<_>>()
        });
        Table::titled(words.into_iter().chain(sizes).chain(["fits in".to_owned()])).rows(rows)
    }

    fn site_table(&self, shown: &[usize]) -> Table {
        let words = ["allocated by", "place", "call", "allocations", "bytes"].map(str::to_owned);
        let sizes = shown.iter().map(|&at| Size::text(self.sizes[at]));
        let rows = self.sites.iter().map(|row: &Site| {
            let words = match &row.site {
                Some(site) => [
                    Cell::Function(site.place.function.clone()),
                    Cell::Text(site.place.short()),
                    Cell::Text(site.callee.clone()),
                    Cell::Count(site.allocations),
                    Cell::Bytes(site.bytes),
                ],
                None => [
                    Cell::from("(static data, stacks, unrecorded)"),
                    Cell::Empty,
                    Cell::Empty,
                    Cell::Empty,
                    Cell::Empty,
                ],
            };
            words
                .into_iter()
                .chain(self.shares(shown, &row.misses))
                .chain([fits(row.fits)])
                .collect::<Vec<_>>()
        });
        Table::titled(words.into_iter().chain(sizes).chain(["fits in".to_owned()])).rows(rows)
    }

    /// Instructions and sites, with the misses at every size.
    fn everything(&self) -> Table {
        let words = ["kind", "function", "file", "line", "access", "accesses"].map(str::to_owned);
        let sizes = self
            .sizes
            .iter()
            .map(|&size| format!("misses_{}", Size::text(size)));
        let columns = words
            .into_iter()
            .chain(sizes)
            .chain(["share".to_owned(), "fits".to_owned()]);
        let counts = |misses: &[u64]| {
            misses
                .iter()
                .map(|&misses| Cell::Count(misses))
                .collect::<Vec<_>>()
        };
        let instructions = self.instructions.iter().map(|row| {
            let place = &row.place;
            let words = [
                Cell::from("instruction"),
                Cell::Function(place.function.clone()),
                Cell::Text(place.file.clone()),
                Cell::Count(place.line.into()),
                Cell::from(row.access),
                Cell::Count(row.accesses),
            ];
            words
                .into_iter()
                .chain(counts(&row.misses))
                .chain([Cell::Share(row.share), bytes(row.fits)])
                .collect::<Vec<_>>()
        });
        let sites = self.sites.iter().map(|row| {
            let place = row.site.as_ref().map(|site| &site.place);
            let words = [
                Cell::from("site"),
                place.map_or(Cell::Empty, |place| Cell::Function(place.function.clone())),
                place.map_or(Cell::Empty, |place| Cell::Text(place.file.clone())),
                place.map_or(Cell::Empty, |place| Cell::Count(place.line.into())),
                row.site
                    .as_ref()
                    .map_or(Cell::Empty, |site| Cell::Text(site.callee.clone())),
                Cell::Empty,
            ];
            words
                .into_iter()
                .chain(counts(&row.misses))
                .chain([Cell::Share(row.share), bytes(row.fits)])
                .collect::<Vec<_>>()
        });
        Table::titled(columns).rows(instructions.chain(sites))
    }
}

fn fits(size: Option<u64>) -> Cell {
    size.map_or(Cell::from("-"), |size| Cell::Text(Size::text(size)))
}

fn bytes(size: Option<u64>) -> Cell {
    size.map_or(Cell::Empty, Cell::Bytes)
}
