//! Reads the text form of a task's id.

use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::id::{ContextId, TaskId};

impl FromStr for TaskId {
    type Err = Error;

    /// Reads `CONTEXT:SEQUENCE`, both decimal.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || ErrorKind::TaskIdText { text: text.to_owned() };
        let (context, seq) = text.split_once(':').ok_or_else(bad)?;
        let number = |s: &str| s.parse::<u32>().map_err(|_| bad());
        Ok(Self::new(ContextId::new(number(context)?), number(seq)?))
    }
}
