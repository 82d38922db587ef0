//! What the program calls the memory at an address: a variable that has its place for the whole
//! run, with the members and indices that lead to the address. The symbols and the debug
//! information of the program's files say so; if a file is not there, or was changed since the run,
//! its variables have no names.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use addr2line::gimli::{self, AttributeValue, EndianSlice, Operation, RunTimeEndian, UnitOffset};
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, ReadCache, SymbolKind};
use taskgraph::{ObjectMeta, RunMeta};

use crate::view::names::demangled;

type Bytes<'d> = EndianSlice<'d, RunTimeEndian>;
type Unit<'d> = gimli::Unit<Bytes<'d>>;
type Entry<'u, 'd> = gimli::DebuggingInformationEntry<'u, 'u, Bytes<'d>>;

/// Types are followed to this depth.
const DEEP: usize = 32;

/// The names of some addresses of a graph.
#[derive(Debug, Default)]
pub(super) struct Variables(HashMap<u64, String>);

impl Variables {
    /// Looks up addresses.
    pub(super) fn at(meta: &RunMeta, addresses: impl Iterator<Item = u64>) -> Self {
        let objects = &meta.objects;
        let mut found = HashMap::new();
        let mut by_object: HashMap<usize, Vec<u64>> = HashMap::new();
        for address in addresses {
            // Only an object that is loaded below may have it.
            let below = (0..objects.len()).filter(|&at| objects[at].load_address <= address);
            if let Some(at) = below.max_by_key(|&at| objects[at].load_address) {
                by_object.entry(at).or_default().push(address);
            }
        }
        for (at, addresses) in by_object {
            let object = &objects[at];
            if is_of_run(object, meta.start_unix_ns) {
                let _ = names(object, &addresses, &mut found);
            }
        }
        Self(found)
    }

    /// The name of the variable at an address.
    pub(super) fn name(&self, address: u64) -> Option<&str> {
        self.0.get(&address).map(String::as_str)
    }
}

/// Whether the object's file is there as it was when the run began.
fn is_of_run(object: &ObjectMeta, start_unix_ns: u64) -> bool {
    let file = std::fs::metadata(&object.path).ok();
    let modified = file.filter(std::fs::Metadata::is_file);
    let modified = modified.and_then(|file| file.modified().ok());
    modified.is_some_and(|at| at <= UNIX_EPOCH + Duration::from_nanos(start_unix_ns))
}

/// Adds the names of those addresses that the object has variables at. `None` if its file cannot be
/// read.
fn names(object: &ObjectMeta, addresses: &[u64], found: &mut HashMap<u64, String>) -> Option<()> {
    let data = ReadCache::new(File::open(&object.path).ok()?);
    let file = ElfFile::<FileHeader64<Endianness>, _>::parse(&data).ok()?;
    let mut debug = None;
    for &address in addresses {
        let at = address - object.load_address;
        let symbol = file.symbols().chain(file.dynamic_symbols()).find(|symbol| {
            symbol.kind() == SymbolKind::Data
                && symbol.is_definition()
                && at.wrapping_sub(symbol.address()) < symbol.size()
        });
        let Some(symbol) = symbol else { continue };
        let linkage = symbol.name().unwrap_or_default();
        let debug = debug.get_or_insert_with(|| Debug::of(&file)).as_ref();
        let described = debug.and_then(|debug| {
            // The symbol of a common block stands for several variables.
            let (begins, variable) = debug.at.range(symbol.address()..=at).next_back()?;
            debug.describe(*variable, at - begins)
        });
        let (name, path) = described.unwrap_or_default();
        // The symbol of C++ and Rust says more than the name; that of a local variable in C says
        // less.
        let said = demangled(linkage);
        let said = if said == linkage && !name.is_empty() { name } else { said };
        found.insert(address, format!("{said}{path}"));
    }
    Some(())
}

/// An entry of the debug information: its unit, and its place there.
type Place = (usize, UnitOffset);

/// The debug information of a file.
struct Debug<'d> {
    dwarf: gimli::Dwarf<Bytes<'d>>,
    /// With whether it is of a Fortran program.
    units: Vec<(Unit<'d>, bool)>,
    /// The variables that have a place for the whole run, by address.
    at: BTreeMap<u64, Place>,
}

impl<'d> Debug<'d> {
    fn of<'f, R: object::ReadRef<'d>>(
        file: &'f ElfFile<'d, FileHeader64<Endianness>, R>,
    ) -> Option<Self> {
        let section = |id: gimli::SectionId| {
            let section = file.section_by_name(id.name());
            let bytes = section.and_then(|section| section.data().ok());
            let bytes = bytes.unwrap_or(&[]);
            Ok::<_, gimli::Error>(EndianSlice::new(bytes, RunTimeEndian::Little))
        };
        let mut debug = Self {
            dwarf: gimli::Dwarf::load(section).ok()?,
            units: Vec::new(),
            at: BTreeMap::new(),
        };
        let mut headers = debug.dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            // What cannot be read has no names.
            if let Ok(unit) = debug.dwarf.unit(header) {
                let fortran = is_fortran(&unit).unwrap_or(false);
                debug.units.push((unit, fortran));
            }
        }
        for unit in 0..debug.units.len() {
            let all = debug.variables(unit);
            debug.at.extend(all.unwrap_or_default());
        }
        Some(debug)
    }

    fn variables(&self, unit: usize) -> gimli::Result<Vec<(u64, Place)>> {
        let mut all = Vec::new();
        let mut entries = self.units[unit].0.entries();
        while let Some((_, entry)) = entries.next_dfs()? {
            if entry.tag() == gimli::DW_TAG_variable
                && let Some(address) = self.address(unit, entry)?
            {
                all.push((address, (unit, entry.offset())));
            }
        }
        Ok(all)
    }

    /// The address of a variable that has one for the whole run.
    fn address(&self, unit: usize, entry: &Entry<'_, 'd>) -> gimli::Result<Option<u64>> {
        let unit = &self.units[unit].0;
        let Some(AttributeValue::Exprloc(place)) = entry.attr_value(gimli::DW_AT_location)? else {
            return Ok(None);
        };
        let mut place = place.operations(unit.encoding());
        let address = match place.next()? {
            Some(Operation::Address { address }) => address,
            Some(Operation::AddressIndex { index }) => self.dwarf.address(unit, index)?,
            _ => return Ok(None),
        };
        Ok(match place.next()? {
            None => Some(address),
            // A member of a common block.
            Some(Operation::PlusConstant { value }) => Some(address.wrapping_add(value)),
            Some(_) => None,
        })
    }

    /// The variable's name, and what leads from its first byte to that at an offset.
    fn describe(&self, (unit, at): Place, offset: u64) -> Option<(String, String)> {
        let mut entry = self.units[unit].0.entry(at).ok()?;
        let mut own = unit;
        // What is declared elsewhere has name and type there.
        if let Some((unit, at)) = self.follow(unit, &entry, gimli::DW_AT_specification) {
            (own, entry) = (unit, self.units[unit].0.entry(at).ok()?);
        }
        let mut path = String::new();
        if let Some(of) = self.follow(own, &entry, gimli::DW_AT_type) {
            // It leads as far as the types say.
            let _ = self.path(of, offset, &mut path, DEEP);
        }
        Some((self.name(own, &entry), path))
    }

    fn name(&self, unit: usize, entry: &Entry<'_, 'd>) -> String {
        let name = entry.attr_value(gimli::DW_AT_name).ok().flatten();
        let name = name.and_then(|name| self.dwarf.attr_string(&self.units[unit].0, name).ok());
        name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Where an attribute of an entry leads.
    fn follow(&self, unit: usize, entry: &Entry<'_, 'd>, attribute: gimli::DwAt) -> Option<Place> {
        match entry.attr_value(attribute).ok()?? {
            AttributeValue::UnitRef(at) => Some((unit, at)),
            AttributeValue::DebugInfoRef(at) => {
                let mut units = self.units.iter().enumerate();
                units.find_map(|(n, unit)| Some((n, at.to_unit_offset(&unit.0.header)?)))
            }
            _ => None,
        }
    }

    /// Bytes of a value of this type.
    fn size(&self, of: Place, deep: usize) -> Option<u64> {
        let entry = self.units[of.0].0.entry(of.1).ok()?;
        let size = entry.attr_value(gimli::DW_AT_byte_size).ok()?;
        if let Some(size) = size.and_then(|size| size.udata_value()) {
            return Some(size);
        }
        let tag = entry.tag();
        if [gimli::DW_TAG_pointer_type, gimli::DW_TAG_reference_type].contains(&tag) {
            return Some(8);
        }
        let inner = self.follow(of.0, &entry, gimli::DW_AT_type)?;
        let one = self.size(inner, deep.checked_sub(1)?)?;
        if tag != gimli::DW_TAG_array_type {
            return Some(one);
        }
        let extents = self.extents(of)?;
        extents.iter().try_fold(one, |n, e| n.checked_mul(e.1))
    }

    /// The first index and the number of elements in each dimension of an array.
    fn extents(&self, of: Place) -> Option<Vec<(i64, u64)>> {
        let number = |entry: &Entry<'_, 'd>, attribute| {
            let value = entry.attr_value(attribute).ok()??;
            value.sdata_value().or_else(|| value.udata_value()?.try_into().ok())
        };
        let (unit, fortran) = &self.units[of.0];
        let mut all = Vec::new();
        let mut tree = unit.entries_tree(Some(of.1)).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Some(child) = children.next().ok()? {
            let entry = child.entry();
            if entry.tag() != gimli::DW_TAG_subrange_type {
                continue;
            }
            let first = number(entry, gimli::DW_AT_lower_bound);
            let first = first.unwrap_or(i64::from(*fortran));
            let last = || number(entry, gimli::DW_AT_upper_bound);
            let count = number(entry, gimli::DW_AT_count)
                .or_else(|| last()?.checked_sub(first)?.checked_add(1))?;
            all.push((first, u64::try_from(count).ok()?));
        }
        Some(all)
    }

    /// Writes what leads from the first byte of a value of this type to that at an offset, as far
    /// as it is known.
    fn path(&self, of: Place, offset: u64, path: &mut String, deep: usize) -> Option<()> {
        let deep = deep.checked_sub(1)?;
        let (unit, fortran) = &self.units[of.0];
        let entry = unit.entry(of.1).ok()?;
        let inner = || self.follow(of.0, &entry, gimli::DW_AT_type);
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type => self.path(inner()?, offset, path, deep),
            gimli::DW_TAG_array_type => {
                let one = self.size(inner()?, deep)?;
                let at = offset.checked_div(one)?;
                indices(*fortran, &self.extents(of)?, at, path)?;
                self.path(inner()?, offset % one, path, deep)
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                let mut tree = unit.entries_tree(Some(of.1)).ok()?;
                let mut children = tree.root().ok()?.children();
                while let Some(child) = children.next().ok()? {
                    let child = child.entry();
                    let member = child.tag() == gimli::DW_TAG_member;
                    if !member && child.tag() != gimli::DW_TAG_inheritance {
                        continue;
                    }
                    let inner = self.follow(of.0, child, gimli::DW_AT_type)?;
                    let begins = child.attr_value(gimli::DW_AT_data_member_location).ok()?;
                    let begins = begins.map_or(Some(0), |at| at.udata_value())?;
                    if offset.wrapping_sub(begins) >= self.size(inner, deep)? {
                        continue;
                    }
                    let name = self.name(of.0, child);
                    // What is inside a lock is the C library's.
                    if name.starts_with("__") {
                        return None;
                    }
                    if member && !name.is_empty() {
                        path.push(if *fortran { '%' } else { '.' });
                        path.push_str(&name);
                    }
                    return self.path(inner, offset - begins, path, deep);
                }
                None
            }
            _ => Some(()),
        }
    }
}

fn is_fortran(unit: &Unit<'_>) -> Option<bool> {
    let mut entries = unit.entries();
    let (_, root) = entries.next_dfs().ok()??;
    let AttributeValue::Language(language) = root.attr_value(gimli::DW_AT_language).ok()?? else {
        return None;
    };
    Some(language.static_string()?.contains("Fortran"))
}

/// Writes the indices of an element. In Fortran the first one counts fastest.
fn indices(fortran: bool, extents: &[(i64, u64)], at: u64, path: &mut String) -> Option<()> {
    let mut left = at;
    let mut index = |&(first, count): &(i64, u64)| {
        let index = first.checked_add_unsigned(left.checked_rem(count)?)?;
        left /= count;
        Some(index.to_string())
    };
    if fortran {
        let all: Vec<String> = extents.iter().map(index).collect::<Option<_>>()?;
        let _ = write!(path, "({})", all.join(","));
    } else {
        let all: Vec<String> = extents.iter().rev().map(&mut index).collect::<Option<_>>()?;
        all.iter().rev().for_each(|index| _ = write!(path, "[{index}]"));
    }
    Some(())
}
