//! A reader that closes the pipe early (`| head`) has seen enough, so this is no error.

use std::io;

/// Whether `error` comes from writing to a closed pipe.
#[must_use]
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = || cause.downcast_ref::<serde_json::Error>()?.io_error_kind();
        let csv = || match cause.downcast_ref::<csv::Error>()?.kind() {
            csv::ErrorKind::Io(error) => Some(error.kind()),
            _ => None,
        };
        io.or_else(json).or_else(csv) == Some(io::ErrorKind::BrokenPipe)
    })
}
