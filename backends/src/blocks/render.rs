//! How `blocks` looks in a terminal and in CSV.

use super::{BlockRow, Report};
use crate::view::units::count;
use crate::view::{Cell, Render, Table, View};

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
            view = view
                .heading("Most executed blocks")
                .table(self.top_blocks_table());
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
        let rows = self.functions.iter().map(|row| {
            [
                Cell::Function(row.place.function.clone()),
                Cell::Text(row.place.short()),
                Cell::Count(row.blocks.into()),
                Cell::Count(row.executions),
                Cell::Number(row.average),
                Cell::Text(self.heat(&row.levels)),
            ]
        });
        let columns = [
            ("function", "function"),
            ("place", "place"),
            ("blocks", "blocks"),
            ("executions", "executions"),
            ("avg running", "average"),
            ("heat", "heat"),
        ];
        Table::new(&columns).text_rows(self.top).rows(rows)
    }

    fn top_blocks_table(&self) -> Table {
        let rows = self.blocks.iter().map(|row| {
            [
                Cell::Text(row.place.short()),
                Cell::Function(row.place.function.clone()),
                Cell::Count(row.executions),
                Cell::Number(row.average),
                Cell::Text(self.heat(&row.levels)),
            ]
        });
        let columns = [
            ("place", "place"),
            ("function", "function"),
            ("executions", "executions"),
            ("avg running", "average"),
            ("heat", "heat"),
        ];
        Table::new(&columns).text_rows(self.top).rows(rows)
    }

    fn blocks_table(&self) -> Table {
        let rows = self.blocks.iter().flat_map(|row: &BlockRow| {
            row.levels.iter().map(|&(running, executions)| {
                [
                    Cell::Count(row.block.into()),
                    Cell::Function(row.place.function.clone()),
                    Cell::Text(row.place.file.clone()),
                    Cell::Count(row.place.line.into()),
                    Cell::Count(running.into()),
                    Cell::Count(executions),
                ]
            })
        });
        let columns = ["block", "function", "file", "line", "running", "executions"];
        Table::titled(columns.map(str::to_owned)).rows(rows)
    }

    /// One character for each level (or group of levels). A darker character stands for more executions, each step
    /// for about a hundred times as many.
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
