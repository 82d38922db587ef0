//! The instrumented modules of the process, and why one may have to be refused.

use contech_trace::abi::{ABI_VERSION, MODULE_MAGIC, ModuleDescriptor, RESERVED_IDS};
use contech_trace::file::{ModuleLoad, checksum};
use contech_trace::ids::overlap;

/// A module as found in memory.
#[derive(Debug, Clone)]
pub struct Found {
    /// Where its descriptor is.
    pub address: usize,
    /// Its descriptor.
    pub descriptor: ModuleDescriptor,
    /// Its encoded table.
    pub table: &'static [u8],
    /// Addresses of the globals its fast-form expressions name.
    pub globals: &'static [u64],
    /// Path of the object that holds it.
    pub object: String,
    /// Address the object is loaded at.
    pub load_address: u64,
}

#[derive(Debug)]
struct Known {
    base: u32,
    count: u32,
    table_sum: u64,
    object: String,
    /// Where its table is, while its object is loaded.
    found: Option<Found>,
}

/// All modules ever registered. Ids stay taken after an object is unloaded: the trace has one meaning
/// per id.
#[derive(Debug, Default)]
pub struct Modules(Vec<Known>);

impl Modules {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a module. `Ok(Some)` is what to write to the trace, `Ok(None)` when it is known
    /// already.
    ///
    /// # Errors
    /// A sentence: not a descriptor, another version of the contract, ids that another module has.
    pub fn add(&mut self, found: Found) -> Result<Option<ModuleLoad>, String> {
        let d = &found.descriptor;
        let object = &found.object;
        if d.magic != MODULE_MAGIC {
            return Err(format!(
                "{object} has a damaged module descriptor ({:#x}); rebuild it with contech-cc",
                d.magic
            ));
        }
        if d.abi != ABI_VERSION {
            return Err(format!(
                "{object} was built for version {} of the runtime contract, this runtime has {ABI_VERSION}; rebuild it with this version's contech-cc",
                d.abi
            ));
        }
        let count = u32::try_from(d.id_count).map_err(|_| {
            format!(
                "a module of {object} has {} blocks, more than ids",
                d.id_count
            )
        })?;
        #[allow(clippy::cast_possible_truncation, reason = "ids are the low 32 bits")]
        let base = d.ids as u32;
        let table_sum = checksum(found.table);
        if let Some(k) = self.0.iter_mut().find(|k| {
            k.base == base && k.count == count && k.table_sum == table_sum && k.object == *object
        }) {
            k.found = Some(found);
            return Ok(None);
        }
        if overlap(base, count, 0, RESERVED_IDS) {
            return Err(format!(
                "block ids of {object} collide with reserved ones by chance of its load address; run again, or without address randomisation (setarch -R)"
            ));
        }
        if let Some(k) = self
            .0
            .iter()
            .find(|k| overlap(base, count, k.base, k.count))
        {
            return Err(format!(
                "block ids of {object} and {} collide by chance of their load addresses; run again, or without address randomisation (setarch -R)",
                k.object
            ));
        }
        let load = load(&found, base, count);
        self.0.push(Known {
            base,
            count,
            table_sum,
            object: found.object.clone(),
            found: Some(found),
        });
        Ok(Some(load))
    }

    /// The module with its descriptor at this address is unloaded.
    pub fn remove(&mut self, address: usize) {
        for k in &mut self.0 {
            if k.found.as_ref().is_some_and(|f| f.address == address) {
                k.found = None;
            }
        }
    }

    /// Every module that is loaded, as for a new trace (a forked child's).
    pub fn loaded(&self) -> impl Iterator<Item = &Found> {
        self.0.iter().filter_map(|k| k.found.as_ref())
    }
}

fn load(found: &Found, base: u32, count: u32) -> ModuleLoad {
    ModuleLoad {
        id_base: base,
        id_count: count,
        object: found.object.clone(),
        load_address: found.load_address,
        globals: found.globals.to_vec(),
        table: found.table.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ids: u64, id_count: u64, object: &str) -> Found {
        Found {
            address: usize::try_from(ids).unwrap(),
            descriptor: ModuleDescriptor {
                magic: MODULE_MAGIC,
                abi: ABI_VERSION,
                ids,
                id_count,
                table: 0,
                table_len: 0,
                globals: 0,
                global_count: 0,
                flags: 0,
            },
            table: b"table",
            globals: &[],
            object: object.into(),
            load_address: 0,
        }
    }

    #[test]
    fn ids_are_the_low_half_of_the_address() {
        let load = Modules::new()
            .add(found(0x7f12_3456_7890, 10, "a"))
            .unwrap();
        let load = load.unwrap();
        assert_eq!((load.id_base, load.id_count), (0x3456_7890, 10));
        assert_eq!(load.table, b"table");
    }

    #[test]
    fn overlapping_ids_are_refused_also_across_four_gigabytes() {
        let mut m = Modules::new();
        m.add(found(0x5_0010_0000, 100, "a")).unwrap();
        let e = m.add(found(0x7_0010_0063, 100, "b")).unwrap_err();
        assert!(e.contains("b and a collide"), "{e}");
        assert!(m.add(found(0x7_0010_0064, 100, "c")).is_ok());
        assert!(
            m.add(found(0x7_0000_ffff, 1, "d"))
                .unwrap_err()
                .contains("reserved")
        );
        assert!(
            m.add(found(0x7_ffff_fff0, 100, "e"))
                .unwrap_err()
                .contains("reserved")
        );
    }

    #[test]
    fn the_same_module_again_is_not_written_twice() {
        let mut m = Modules::new();
        assert!(m.add(found(0x20_0000, 100, "a")).unwrap().is_some());
        assert!(m.add(found(0x20_0000, 100, "a")).unwrap().is_none());
        m.remove(0x20_0000);
        assert_eq!(m.loaded().count(), 0);
        assert!(m.add(found(0x20_0000, 100, "a")).unwrap().is_none());
        assert_eq!(m.loaded().count(), 1);
        m.remove(0x20_0000);
        assert!(
            m.add(found(0x20_0000, 100, "b")).is_err(),
            "another module at the same ids"
        );
    }

    #[test]
    fn foreign_and_outdated_descriptors_are_refused() {
        let mut m = Modules::new();
        let mut f = found(0x20_0000, 1, "a");
        f.descriptor.magic = 1;
        assert!(m.add(f).unwrap_err().contains("damaged"));
        let mut f = found(0x20_0000, 1, "a");
        f.descriptor.abi = ABI_VERSION + 1;
        assert!(m.add(f).unwrap_err().contains("rebuild"));
    }
}
