//! How `blocks` looks in a terminal and in CSV.

use super::{BlockRow, Report};
use crate::view::units::count;
use crate::view::{Render, Table, View};

/// The most columns of the heat map; with more levels, several share a column.
const COLUMNS: usize = 32;
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default()
            .csv(self.blocks_table())
            .heading("Block executions by running contexts")
            .line(format!(
                "{} executions of {} blocks in {} functions; contexts running at the time: at most {}.",
                count(self.executions),
                count(self.blocks.len() as u64),
                count(self.functions.len() as u64),
                self.max_running
            ));
        if !self.functions.is_empty() {
            view = view.line("").table(self.functions_table());
            view = view.heading("Most executed blocks").table(self.top_blocks_table());
            let last = self.max_running;
            view = view.line("").line(format!(
                "heat: executions with 1 (left) to {last} (right) contexts running, log scale"
            ));
        }
        view
    }
}

impl Report {
    fn functions_table(&self) -> Table {
        Table::of(&self.functions)
            .function("function", "function", |row| row.place.function.clone())
            .text("place", "place", |row| row.place.short())
            .count("blocks", "blocks", |row| row.blocks)
            .count("executions", "executions", |row| row.executions)
            .number("avg running", "average", |row| row.average)
            .text("heat", "heat", |row| self.heat(&row.levels))
            .table()
            .text_rows(self.top)
    }

    fn top_blocks_table(&self) -> Table {
        Table::of(&self.blocks)
            .text("place", "place", |row| row.place.short())
            .function("function", "function", |row| row.place.function.clone())
            .count("executions", "executions", |row| row.executions)
            .number("avg running", "average", |row| row.average)
            .text("heat", "heat", |row| self.heat(&row.levels))
            .table()
            .text_rows(self.top)
    }

    fn blocks_table(&self) -> Table {
        let levels = |row: &BlockRow| row.levels.clone().into_iter();
        let rows = self.blocks.iter();
        Table::of(rows.flat_map(|row| levels(row).map(move |level| (row, level))))
            .count("block", "block", |row| row.0.block)
            .function("function", "function", |row| row.0.place.function.clone())
            .text("file", "file", |row| row.0.place.file.clone())
            .count("line", "line", |row| row.0.place.line)
            .count("running", "running", |row| row.1.0)
            .count("executions", "executions", |row| row.1.1)
            .table()
    }

    /// One character for each level (or group of levels). A darker character stands for more
    /// executions, each step for about a hundred times as many.
    fn heat(&self, levels: &[(u32, u64)]) -> String {
        let most = self.max_running.max(1) as usize;
        let columns = most.min(COLUMNS);
        let mut sums = vec![0u64; columns];
        for &(level, executions) in levels {
            sums[(level.max(1) as usize - 1) * columns / most] += executions;
        }
        let largest = self.executions.max(2).ilog2();
        let shade = |&sum: &u64| match sum {
            0 => ' ',
            sum => SHADES[(sum.ilog2() * 4 / largest).min(4) as usize],
        };
        sums.iter().map(shade).collect()
    }
}
