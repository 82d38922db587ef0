//! The CSV form of a table: it has keys as header, and raw numbers (nanoseconds, bytes, shares of
//! one).

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;

use super::{Cell, Table};

pub(super) fn write(table: &Table, out: &mut dyn Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(table.columns.iter().map(|column| column.key.as_str()))?;
    for row in &table.rows {
        writer.write_record(row.iter().map(raw))?;
    }
    writer.flush()?;
    Ok(())
}

fn raw(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) | Cell::Function(text) => words(text).into_owned(),
        Cell::Count(number) | Cell::Bytes(number) | Cell::Time(number) => number.to_string(),
        Cell::Number(number) | Cell::Share(number) | Cell::Rate(number) => number.to_string(),
    }
}

/// Words for a cell. A spreadsheet takes what begins with one of four characters for a formula and
/// computes it, and a function may have any name: those words get an apostrophe, which says that
/// they are words. Numbers stay numbers.
#[must_use]
pub fn words(text: &str) -> Cow<'_, str> {
    // What is before the sign and shows nothing does not keep a spreadsheet from computing.
    let shown = text.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
    if shown.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err() {
        return Cow::Owned(format!("'{text}"));
    }
    Cow::Borrowed(text)
}

#[cfg(test)]
mod tests {
    use crate::view::View;

    use super::*;

    #[test]
    fn values_are_raw_and_words_are_quoted_where_needed() {
        let table = Table::of([()])
            .text("function", "function", |()| "f<int, 2>")
            .time("time", "time_ns", |()| 4_200u64)
            .share("share", "share", |()| 0.25)
            .table()
            .text_rows(0);
        let mut out = Vec::new();
        View::default().line("not in csv").table(table).write_csv(&mut out).expect("memory");
        assert_eq!(
            String::from_utf8(out).expect("utf-8"),
            "function,time_ns,share\n\"f<int, 2>\",4200,0.25\n"
        );
    }

    #[test]
    fn words_are_no_formulas_and_numbers_are_numbers() {
        for formula in ["=1+1", "+f(x)", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", " =1"] {
            assert_eq!(words(formula), format!("'{formula}"));
        }
        for other in ["", "f<int>", "a=b", "-1.5", "+2e9", "'=1"] {
            assert_eq!(words(other), other);
        }
    }
}
