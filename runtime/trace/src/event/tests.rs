//! Tests that events survive encoding, and that bytes which no writer produces are an error.

use super::*;

#[test]
fn every_event_survives_encoding_and_ends_with_its_id() {
    let mut events = vec![
        Event::Alloc {
            kind: AllocKind::New,
            addr: 1 << 47,
            size: 5,
        },
        Event::Free { addr: 77 },
        Event::Map {
            addr: 4096,
            size: 8192,
        },
        Event::Fresh {
            addr: 8192,
            size: 640,
        },
        Event::Unmap {
            addr: 4096,
            size: 8192,
        },
        Event::ContextStart {
            context: 3,
            creator: 1,
            announced: true,
            tid: 99,
            at: 12,
        },
        Event::ContextEnd {
            reason: EndReason::Signal,
            at: 13,
        },
        Event::Delay {
            before: 1,
            duration: 2,
        },
        Event::Lost { bytes: 9 },
        Event::Stolen { taken: 7 },
        Event::Position {
            at: 5,
            ran: 6,
            system: 7,
            faults: 8,
            own: 9,
        },
        Event::Roi { begin: true, at: 3 },
        Event::Again {
            bytes: 40,
            count: 13,
        },
    ];
    events.extend((0..3).map(|n| Event::Accesses {
        recorded: Recorded::from_u8(n).unwrap(),
        at: 15,
    }));
    events.extend((0..4).map(|n| Event::Switch {
        context: 7,
        piece: 1,
        how: Arrival::from_u8(n).unwrap(),
        at: 14,
    }));
    events.extend(
        SyncOp::ALL
            .iter()
            .filter(|op| **op != SyncOp::None)
            .map(|&op| Event::Sync {
                op,
                object: 0xffff_ffff_ffff,
                ticket: 2,
                aux: 3,
                before: 4,
                duration: 5,
            }),
    );
    for e in events {
        let mut buf = [0; MAX_EVENT];
        let n = e.encode(&mut buf);
        let id = u32::from_le_bytes(buf[n - 4..n].try_into().unwrap());
        assert_eq!(field_bytes(id), Some(n - 4));
        assert_eq!(Event::decode(id, &buf[..n - 4]).unwrap(), e);
    }
}

#[test]
fn unknown_numbers_are_errors() {
    assert!(Event::decode(999, &[]).is_err());
    assert!(Event::decode(raw::Sync::ID, &[0xff; 32]).is_err());
    assert!(Event::decode(raw::Free::ID, &[0; 5]).is_err());
}
