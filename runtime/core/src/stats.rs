//! The statistics file: JSON of what was recorded, as far as it is known without decoding a record.
//! Only the records have block executions and accesses; `contech-middle trace.bin graph.tg --json`
//! counts them after the run.

use contech_trace::file::Totals;

/// The text of the file. `put_off` is how often a try of a spin-wait was put off in vain.
pub(crate) fn json(totals: &Totals, put_off: u64) -> String {
    format!(
        "{{\"bytes\":{},\"blocks\":null,\"accesses\":null,\"syncs\":{},\"pauses\":{},\"put_off\":{put_off},\"contexts\":{},\"lost_bytes\":{},\"complete\":{}}}\n",
        totals.bytes,
        totals.syncs,
        totals.pauses,
        totals.contexts,
        totals.lost_bytes,
        totals.complete
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_json_with_the_fixed_keys() {
        let totals = Totals { bytes: 1, complete: true, ..Totals::default() };
        assert_eq!(
            json(&totals, 0),
            "{\"bytes\":1,\"blocks\":null,\"accesses\":null,\"syncs\":0,\"pauses\":0,\"put_off\":0,\"contexts\":0,\"lost_bytes\":0,\"complete\":true}\n"
        );
    }
}
