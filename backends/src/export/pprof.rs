//! The format of pprof: protobuf within gzip. `go tool pprof`, Pyroscope and others read it.

use std::io::Write;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use rustc_hash::FxHashMap;

use super::folded::program;
use super::profile::{self, Profile};
use crate::analysis::Graph;

/// What is written of `perftools.profiles.Profile`; the numbers are those of its fields.
#[derive(Clone, PartialEq, Message)]
struct Document {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
    #[prost(int64, tag = "5")]
    start_line: i64,
}

/// Writes a profile.
pub(super) fn write(out: &mut dyn Write, graph: &Graph, profile: &Profile) -> Result<()> {
    let mut out = GzEncoder::new(out, Compression::default());
    out.write_all(&document(graph, profile).encode_to_vec())?;
    out.finish()?;
    Ok(())
}

fn document(graph: &Graph, profile: &Profile) -> Document {
    let info = graph.info();
    let mut tables = Tables::default();
    tables.string("");
    let mapping = Mapping {
        id: 1,
        filename: tables.string(&program(graph)),
        has_functions: true,
        has_filenames: true,
        has_line_numbers: true,
    };
    let kind = |metric: &profile::Metric| ValueType {
        kind: tables.string(&metric.name.to_lowercase()),
        unit: tables.string(metric.unit),
    };
    let sample_type = profile.metrics.iter().map(kind).collect();
    let cause = tables.string("cause");
    let mut samples = Vec::new();
    let mut sample = |tables: &mut Tables, node, line, value, label| {
        let stack = profile.stack(node, line);
        let location_id = stack.iter().rev().map(|&(node, line)| {
            let function = profile.nodes[node as usize].function;
            let key = (function.map_or(u32::MAX, |id| id.get()), line);
            tables.location(key, || {
                let about = function.and_then(|id| info.function(id));
                let file = function.map_or("", |id| info.file_of(id));
                let name = profile::name(info, function);
                let whole = about.map_or(name.clone(), |about| about.name.clone());
                (name, whole, file, about.map_or(0, |about| about.line))
            })
        });
        samples.push(Sample {
            location_id: location_id.collect(),
            value,
            label,
        });
    };
    // Waiting has samples of its own, which tell the cause.
    for row in &profile.rows {
        let mut value: Vec<i64> = row.costs.iter().map(|&cost| signed(cost)).collect();
        value[Profile::WAIT] = 0;
        if value.iter().any(|&value| value > 0) {
            sample(&mut tables, row.node, row.line, value, Vec::new());
        }
    }
    for wait in &profile.waits {
        let mut value = vec![0; profile.metrics.len()];
        value[Profile::WAIT] = signed(wait.ns);
        let label = Label {
            key: cause,
            str: tables.string(wait.cause.name()),
        };
        sample(&mut tables, wait.node, wait.line, value, vec![label]);
    }
    let comment = crate::analysis::warnings(graph);
    let comment = comment.iter().map(|text| tables.string(text)).collect();
    Document {
        sample_type,
        sample: samples,
        mapping: vec![mapping],
        location: tables.locations,
        function: tables.functions,
        string_table: tables.strings,
        time_nanos: signed(graph.meta().start_unix_ns),
        duration_nanos: signed(graph.summary().duration_ns),
        comment,
    }
}

/// Strings, functions and locations by number.
#[derive(Default)]
struct Tables {
    strings: Vec<String>,
    known: FxHashMap<String, i64>,
    functions: Vec<Function>,
    function_ids: FxHashMap<u32, u64>,
    locations: Vec<Location>,
    location_ids: FxHashMap<(u32, u32), u64>,
}

impl Tables {
    fn string(&mut self, text: &str) -> i64 {
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let id = signed(self.strings.len() as u64);
        self.strings.push(text.to_owned());
        self.known.insert(text.to_owned(), id);
        id
    }

    /// The location of a function and a line; `about` has the function's name, its name in full, its file and its line.
    fn location<'n>(
        &mut self,
        key: (u32, u32),
        about: impl FnOnce() -> (String, String, &'n str, u32),
    ) -> u64 {
        if let Some(&known) = self.location_ids.get(&key) {
            return known;
        }
        let function = match self.function_ids.get(&key.0) {
            Some(&known) => known,
            None => {
                let id = self.functions.len() as u64 + 1;
                let (name, whole, file, line) = about();
                let function = Function {
                    id,
                    name: self.string(&name),
                    system_name: self.string(&whole),
                    filename: self.string(file),
                    start_line: line.into(),
                };
                self.functions.push(function);
                self.function_ids.insert(key.0, id);
                id
            }
        };
        let id = self.locations.len() as u64 + 1;
        self.locations.push(Location {
            id,
            mapping_id: 1,
            line: vec![Line {
                function_id: function,
                line: key.1.into(),
            }],
        });
        self.location_ids.insert(key, id);
        id
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
