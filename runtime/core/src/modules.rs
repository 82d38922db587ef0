//! The instrumented modules of the process, and the reasons to refuse one.

use contech_trace::abi::{ABI_VERSION, MODULE_MAGIC, ModuleDescriptor, RESERVED_IDS};
use contech_trace::file::{ModuleLoad, checksum};
use contech_trace::program::overlap;

/// A module, as found in memory.
#[derive(Debug, Clone)]
pub struct FoundModule {
    /// Address of the descriptor.
    pub address: usize,
    pub descriptor: ModuleDescriptor,
    /// The encoded table.
    pub table: &'static [u8],
    /// Addresses of the globals that the module's fast-form expressions name.
    pub globals: &'static [u64],
    /// Path of the object that holds the module.
    pub object: String,
    /// Address that the object is loaded at.
    pub load_address: u64,
}

impl FoundModule {
    /// The low halves of the addresses of the module's ids, as they are recorded: the first, and
    /// their number. `None` when there are more blocks than ids.
    pub(crate) fn ids(&self) -> Option<(u32, u32)> {
        #[allow(clippy::cast_possible_truncation, reason = "ids are the low 32 bits")]
        let base = self.descriptor.ids as u32;
        Some((base, u32::try_from(self.descriptor.id_count).ok()?))
    }

    /// Whether the module was loaded where its ids are those of events.
    #[must_use]
    pub fn has_reserved_ids(&self) -> bool {
        self.ids().is_some_and(|(base, count)| overlap(base, count, 0, RESERVED_IDS))
    }
}

#[derive(Debug)]
struct Known {
    base: u32,
    count: u32,
    /// Checksum of all that the trace says of the module.
    sum: u64,
    object: String,
    /// The module in memory, while its object is loaded.
    found: Option<FoundModule>,
}

/// What a module is to the trace.
#[derive(Debug)]
pub enum Added {
    /// The trace has the module already.
    Known,
    /// The module must be written to the trace.
    New(ModuleLoad),
    /// The module must be written to the trace, and its ids were those of modules that have been
    /// unloaded. What was recorded of those modules must be written before.
    InPlaceOfOthers(ModuleLoad),
}

/// The modules whose ids mean something in the trace. A module keeps its ids after its object is
/// unloaded, until another object is loaded in its place.
#[derive(Debug, Default)]
pub struct Modules(Vec<Known>);

impl Modules {
    /// Registers a module. Returns what the module is to the trace.
    ///
    /// # Errors
    /// A sentence for the user, when it is not a descriptor, has another version of the contract,
    /// or has ids that another loaded module has.
    pub fn add(&mut self, found: FoundModule) -> Result<Added, String> {
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
        let (base, count) = found.ids().ok_or_else(|| {
            format!("a module of {object} has {} blocks, more than ids", d.id_count)
        })?;
        let load = load(&found, base, count);
        let sum = checksum(&load.to_bytes());
        if let Some(k) = self.0.iter_mut().find(|k| k.sum == sum) {
            k.found = Some(found);
            return Ok(Added::Known);
        }
        if found.has_reserved_ids() {
            return Err(format!(
                "{object} is loaded where its block ids are reserved ones; its address is chance: run again, or without address randomisation (setarch -R)"
            ));
        }
        let taken = |k: &Known| overlap(base, count, k.base, k.count);
        if let Some(k) = self.0.iter().find(|k| taken(k) && k.found.is_some()) {
            return Err(format!(
                "{object} is loaded where its block ids are those of {} (the low halves of their addresses are equal); addresses are chance: run again, or without address randomisation (setarch -R)",
                k.object
            ));
        }
        let before = self.0.len();
        self.0.retain(|k| !taken(k));
        let alone = self.0.len() == before;
        self.0.push(Known { base, count, sum, object: found.object.clone(), found: Some(found) });
        Ok(if alone { Added::New(load) } else { Added::InPlaceOfOthers(load) })
    }

    /// Notes that the module with its descriptor at this address is unloaded.
    pub fn remove(&mut self, address: usize) {
        for k in &mut self.0 {
            if k.found.as_ref().is_some_and(|f| f.address == address) {
                k.found = None;
            }
        }
    }

    /// Every module that is loaded. A new trace (a forked child's) needs them.
    pub fn loaded(&self) -> impl Iterator<Item = &FoundModule> {
        self.0.iter().filter_map(|k| k.found.as_ref())
    }
}

fn load(found: &FoundModule, base: u32, count: u32) -> ModuleLoad {
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

    fn found(ids: u64, id_count: u64, object: &str) -> FoundModule {
        FoundModule {
            address: usize::try_from(ids).unwrap(),
            descriptor: ModuleDescriptor {
                magic: MODULE_MAGIC,
                abi: ABI_VERSION,
                ids,
                id_count,
                ..ModuleDescriptor::default()
            },
            table: b"table",
            globals: &[],
            object: object.into(),
            load_address: 0,
        }
    }

    fn new(added: Result<Added, String>) -> bool {
        matches!(added, Ok(Added::New(_)))
    }

    #[test]
    fn ids_are_the_low_half_of_the_address() {
        let added = Modules::default().add(found(0x7f12_3456_7890, 10, "a"));
        let Ok(Added::New(load)) = added else {
            panic!("{added:?}");
        };
        assert_eq!((load.id_base, load.id_count), (0x3456_7890, 10));
        assert_eq!(load.table, b"table");
    }

    #[test]
    fn ids_of_a_loaded_module_are_refused_also_across_four_gigabytes() {
        let mut m = Modules::default();
        assert!(new(m.add(found(0x5_0010_0000, 100, "a"))));
        let e = m.add(found(0x7_0010_0063, 100, "b")).unwrap_err();
        assert!(e.contains("those of a "), "{e}");
        assert!(new(m.add(found(0x7_0010_0064, 100, "c"))));
        for reserved in [0x7_0000_00ff, 0x7_ffff_fff0] {
            let e = m.add(found(reserved, 100, "d")).unwrap_err();
            assert!(e.contains("reserved"), "{e}");
        }
    }

    #[test]
    fn the_same_module_again_is_not_written_twice() {
        let mut m = Modules::default();
        assert!(new(m.add(found(0x20_0000, 100, "a"))));
        for _ in 0..2 {
            assert!(matches!(m.add(found(0x20_0000, 100, "a")), Ok(Added::Known)));
            assert_eq!(m.loaded().count(), 1);
            m.remove(0x20_0000);
            assert_eq!(m.loaded().count(), 0);
        }
    }

    #[test]
    fn a_module_may_take_the_ids_of_those_unloaded_before_it() {
        let mut m = Modules::default();
        assert!(new(m.add(found(0x20_0000, 100, "a"))));
        assert!(new(m.add(found(0x20_0064, 100, "b"))));
        assert!(m.add(found(0x20_0032, 100, "c")).is_err());
        m.remove(0x20_0000);
        assert!(m.add(found(0x20_0032, 100, "c")).is_err());
        m.remove(0x20_0064);
        for object in ["c", "a"] {
            let added = m.add(found(0x20_0032, 100, object));
            assert!(matches!(added, Ok(Added::InPlaceOfOthers(_))), "{added:?}");
            m.remove(0x20_0032);
        }
        let mut moved = found(0x20_0032, 100, "a");
        moved.globals = &[7];
        assert!(matches!(m.add(moved), Ok(Added::InPlaceOfOthers(_))));
    }

    #[test]
    fn foreign_and_outdated_descriptors_are_refused() {
        let mut m = Modules::default();
        let mut f = found(0x20_0000, 1, "a");
        f.descriptor.magic = 1;
        assert!(m.add(f).unwrap_err().contains("damaged"));
        let mut f = found(0x20_0000, 1, "a");
        f.descriptor.abi = ABI_VERSION + 1;
        assert!(m.add(f).unwrap_err().contains("rebuild"));
    }
}
