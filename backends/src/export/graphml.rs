//! GraphML: tasks as nodes, dependences as edges, for NetworkX, igraph, Gephi and yEd.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;

use crate::analysis::Graph;

/// The attributes of nodes.
const ATTRIBUTES: [(&str, &str); 10] = [
    ("context", "long"),
    ("kind", "string"),
    ("operation", "string"),
    ("object", "string"),
    ("start_ns", "long"),
    ("end_ns", "long"),
    ("blocks", "long"),
    ("reads", "long"),
    ("writes", "long"),
    ("bytes", "long"),
];

/// Writes every task and every edge, those of program order included.
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> Result<()> {
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<graphml xmlns="http://graphml.graphdrawing.org/xmlns">"#
    )?;
    for (name, kind) in ATTRIBUTES {
        writeln!(
            out,
            r#"  <key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>"#
        )?;
    }
    writeln!(
        out,
        r#"  <key id="order" for="edge" attr.name="order" attr.type="string"/>"#
    )?;
    writeln!(out, r#"  <graph edgedefault="directed">"#)?;
    for task in graph.tasks() {
        let task = task?;
        let id = task.id();
        let values: [Cow<'_, str>; ATTRIBUTES.len()] = [
            id.context.to_string().into(),
            task.kind().name().into(),
            task.op().name().into(),
            format!("{:#x}", task.object()).into(),
            task.start_ns().to_string().into(),
            task.end_ns().to_string().into(),
            task.block_count().to_string().into(),
            task.read_count().to_string().into(),
            task.write_count().to_string().into(),
            task.bytes_accessed().to_string().into(),
        ];
        write!(out, r#"    <node id="{id}">"#)?;
        for ((name, _), value) in ATTRIBUTES.iter().zip(values) {
            write!(out, r#"<data key="{name}">{value}</data>"#)?;
        }
        writeln!(out, "</node>")?;
        let edge = |out: &mut dyn Write, from, order| {
            writeln!(
                out,
                r#"    <edge source="{from}" target="{id}"><data key="order">{order}</data></edge>"#
            )
        };
        if let Some(before) = id.previous() {
            edge(out, before, "program")?;
        }
        for &from in task.stored_dependencies() {
            edge(out, from, "synchronisation")?;
        }
    }
    writeln!(out, "  </graph>\n</graphml>")?;
    Ok(())
}
