//! What several tests of a process need and one of them makes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

/// Values by name. The first caller who asks for a value makes it; others who ask meanwhile wait.
#[derive(Debug, Default)]
pub struct Once<T>(Mutex<BTreeMap<String, Slot<T>>>);

type Slot<T> = Arc<Mutex<Option<T>>>;

impl<T: Clone> Once<T> {
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The value of this name, made now if there is none.
    ///
    /// # Errors
    /// When the value cannot be made; the next caller then tries again.
    pub fn get(&self, name: &str, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.entry(name.to_owned()).or_default().clone();
        drop(slots);
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            *slot = Some(make()?);
        }
        slot.clone().ok_or_else(|| anyhow::anyhow!("{name} was not made"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_and_a_failure_is_not_kept() -> Result<()> {
        let values = Once::new();
        assert!(values.get("a", || anyhow::bail!("no")).is_err());
        assert_eq!(values.get("a", || Ok(1))?, 1);
        assert_eq!(values.get("a", || Ok(2))?, 1);
        assert_eq!(values.get("b", || Ok(3))?, 3);
        Ok(())
    }
}
