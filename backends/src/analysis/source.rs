//! Places in the program's source, for results that people read.

use serde::{Deserialize, Serialize};
use taskgraph::{BlockId, FunctionId, StaticInfo};

use super::names;

/// A function and a line of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Function name; empty when unknown.
    pub function: String,
    /// Source file; empty when unknown.
    pub file: String,
    /// Source line; 0 when unknown.
    pub line: u32,
}

impl Place {
    /// Where a block starts.
    #[must_use]
    pub fn of_block(info: &StaticInfo, id: BlockId) -> Self {
        let Some(block) = info.block(id) else {
            return Self::default();
        };
        let place = Self::of_function(info, block.function);
        let line = if block.line == 0 {
            place.line
        } else {
            block.line
        };
        Self { line, ..place }
    }

    /// Where a function starts.
    #[must_use]
    pub fn of_function(info: &StaticInfo, id: FunctionId) -> Self {
        let Some(function) = info.function(id) else {
            return Self::default();
        };
        let file = info
            .files
            .get(function.file as usize)
            .cloned()
            .unwrap_or_default();
        Self {
            function: function.name.clone(),
            file,
            line: function.line,
        }
    }

    /// The place and the callee of the call at the end of a block, if there is one.
    #[must_use]
    pub fn of_call(info: &StaticInfo, id: BlockId) -> Option<(Self, String)> {
        let call = info.block(id)?.call.as_ref()?;
        let place = Self::of_block(info, id);
        let line = if call.line == 0 {
            place.line
        } else {
            call.line
        };
        Some((Self { line, ..place }, call.callee.clone()))
    }

    /// Whether the place is in a library's source, or in what rustc itself adds between a program and its allocator.
    #[must_use]
    pub fn is_library(&self) -> bool {
        ::workspan::source::is_library(&self.file) || self.function.starts_with("__rustc::")
    }

    /// Whether anything is known of the place.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.function.is_empty() || !self.file.is_empty()
    }

    /// `file.c:12`: the name of the file without its folder, and the line. If the file is unknown, it is the
    /// function.
    #[must_use]
    pub fn short(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        match (file, self.line) {
            ("", _) if self.function.is_empty() => "?".to_owned(),
            ("", _) => self.function.clone(),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        }
    }

    /// A place as in `in work (main.c:41)`. A function that the compiler made has the name that the program has for it.
    #[must_use]
    pub fn located(&self) -> String {
        if !self.is_known() {
            return "in code that was not recorded".to_owned();
        }
        let short = self.short();
        let (part, function) = names::part(&self.function);
        let name = match names::is_standard(function) && !self.is_library() {
            // The library took in this code of the program.
            true => String::new(),
            false => names::spoken(function),
        };
        match (part, name.as_str()) {
            (names::Part::Task, _) => format!("in the task at {short}"),
            (names::Part::Region, "") => format!("in the parallel region at {short}"),
            (names::Part::Region, name) => format!("in the parallel region of {name} ({short})"),
            (names::Part::Whole, "") => format!("at {short}"),
            (names::Part::Whole, _) if short == self.function => format!("in {name}"),
            (names::Part::Whole, name) => format!("in {name} ({short})"),
        }
    }
}
