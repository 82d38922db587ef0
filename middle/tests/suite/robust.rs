//! Cuts at every chunk boundary and at a thousand places, flipped bits, and a short slice of the fuzzer.

use contech_trace::file::{ChunkKind, HEADER_BYTES};

use crate::fuzz::{Random, graph_once, observation, observation_once, seed, trace_once, units};
use crate::graph::{convert_with, converted, options};
use crate::trace::assemble;

#[test]
fn a_trace_cut_at_any_chunk_or_byte_gives_what_was_whole() {
    let pieces = seed().pieces;
    let bytes = assemble(&pieces);
    let whole = converted(bytes.clone());
    assert!(whole.summary.complete, "{:?}", whole.summary.notes);
    // Every boundary: the blocks of whole chunks, not one less.
    let (mut blocks, mut cut) = (0, HEADER_BYTES);
    for piece in &pieces {
        let c = converted(bytes[..cut].to_vec());
        assert!(
            !c.summary.complete && !c.graph.meta().complete,
            "cut at {cut}"
        );
        assert!(c.summary.blocks >= blocks, "cut at {cut}");
        blocks = c.summary.blocks;
        cut += piece.bytes().len();
    }
    assert_eq!(blocks, whole.summary.blocks);
    let mut random = Random(7);
    for _ in 0..1000 {
        let at = HEADER_BYTES + random.below(bytes.len() - HEADER_BYTES);
        let c = convert_with(bytes[..at].to_vec(), &options(4 << 20, 1)).unwrap();
        assert!(!c.summary.complete, "cut at {at}");
    }
}

#[test]
fn a_flipped_bit_anywhere_is_damage_to_its_chunk_only() {
    let pieces = seed().pieces;
    let bytes = assemble(&pieces);
    let whole = converted(bytes.clone()).summary;
    let mut random = Random(9);
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        let at = HEADER_BYTES + random.below(bytes.len() - HEADER_BYTES);
        damaged[at] ^= 1 << random.below(8);
        let c = convert_with(damaged, &options(4 << 20, 1)).unwrap();
        let mut end = HEADER_BYTES;
        let hit = pieces.iter().find(|p| {
            end += p.bytes().len();
            at < end
        });
        let run = hit.is_some_and(|p| p.kind == ChunkKind::Run);
        assert!(run || !c.summary.complete, "byte {at}");
        assert!(c.summary.blocks <= whole.blocks, "byte {at}");
    }
}

#[test]
fn mutated_traces_never_break_the_reader() {
    let pieces = seed().pieces;
    let mut random = Random(88_172_645_463_325_252);
    let seen = (0..20_000).map(|_| trace_once(&pieces, &mut random));
    assert_ne!(seen.fold(0, u64::wrapping_add), 0);
}

#[test]
fn mutated_graphs_never_break_the_reader() {
    let graph = converted(assemble(&seed().pieces)).bytes;
    let places = units(&graph);
    let mut random = Random(88_172_645_463_325_252);
    let seen = (0..8_000).map(|_| graph_once(&graph, &places, &mut random));
    assert_ne!(seen.fold(0, u64::wrapping_add), 0);
}

#[test]
fn mutated_observations_never_break_the_reader() {
    let seed = observation();
    let mut random = Random(88_172_645_463_325_252);
    let seen = (0..100_000).map(|_| observation_once(&seed, &mut random));
    assert_ne!(seen.fold(0, u64::wrapping_add), 0);
}
