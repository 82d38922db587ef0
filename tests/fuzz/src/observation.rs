//! Observations: a header of 32 bytes and one body (runtime/observation/FORMAT.md).

use contech_observation::{Lane, Model, Module, Observation, Phase, Place, State, Times, WaitSite};

use crate::format::{Format, Piece};

/// An observation is one piece, whose head is the magic and the version.
pub(crate) const FORMAT: Format = Format {
    split: |file| {
        Some(vec![Piece {
            head: file.get(..16)?.to_vec(),
            stored: file.get(32..)?.to_vec(),
            at: 0,
        }])
    },
    open: |piece| Some(vec![piece.stored.clone()]),
    shut: |_, parts| parts.concat(),
    join: |pieces| {
        let mut file = Vec::new();
        for piece in pieces {
            file.extend(&piece.head);
            file.extend((piece.stored.len() as u64).to_le_bytes());
            file.extend(xxhash_rust::xxh3::xxh3_64(&piece.stored).to_le_bytes());
            file.extend(&piece.stored);
        }
        file
    },
};

/// An observation with every kind of entry.
pub(crate) fn seed() -> Vec<u8> {
    let place = Place {
        module: Some(0),
        offset: 64,
        symbol: "sweep".into(),
    };
    let times = Times([300; State::COUNT]);
    let phase = Phase {
        place: place.clone(),
        model: Model::OpenMp,
        count: 1,
        wall_ns: 800,
        threads: 2,
        times,
        slowest_ns: 700,
        first_ns: 5,
        dynamic: true,
        pieces: 3,
    };
    let wait = WaitSite {
        place,
        state: State::Lock,
        count: 9,
        ns: 70,
    };
    let lane = Lane {
        threads: 1,
        times,
        bins: vec![times; 3],
        ..Lane::default()
    };
    let observation = Observation {
        complete: true,
        bin_ns: 10,
        notes: vec!["seen".into()],
        lanes: vec![lane; 2],
        phases: vec![phase],
        waits: vec![wait],
        modules: vec![Module {
            path: "/bin/program".into(),
        }],
        ..Observation::default()
    };
    observation.encode().unwrap_or_default()
}

/// Reads an observation; one that can be read must be written and read again unchanged.
pub(crate) fn read(bytes: &[u8]) -> bool {
    let Ok(observation) = Observation::decode(bytes) else {
        return false;
    };
    let again = observation.encode().and_then(|b| Observation::decode(&b));
    assert_eq!(again.as_ref(), Ok(&observation));
    true
}
