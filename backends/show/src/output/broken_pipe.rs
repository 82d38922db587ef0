//! A reader that closes the pipe early (`| head`) has seen enough, so this is no error.

use std::io;

/// Whether `error` comes from writing to a closed pipe.
#[must_use]
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = if let Some(error) = cause.downcast_ref::<io::Error>() {
            Some(error.kind())
        } else if let Some(error) = cause.downcast_ref::<serde_json::Error>() {
            error.io_error_kind()
        } else if let Some(csv::ErrorKind::Io(error)) =
            cause.downcast_ref::<csv::Error>().map(csv::Error::kind)
        {
            Some(error.kind())
        } else {
            None
        };
        kind == Some(io::ErrorKind::BrokenPipe)
    })
}
