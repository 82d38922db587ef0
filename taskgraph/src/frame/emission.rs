//! What is needed to compute accesses.

use super::play::Score;
use super::template::Templates;
use crate::statics::StaticInfo;

/// What is needed to compute accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emission<'g> {
    pub(crate) info: &'g StaticInfo,
    pub(crate) score: Score<'g>,
    pub(crate) templates: &'g Templates,
    pub(crate) space: u16,
    /// Only executions are wanted, no accesses.
    pub(crate) counting: bool,
    /// Synchronisation that is no task is left out.
    pub(crate) silent: bool,
}
