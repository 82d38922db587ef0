"""What readers that are not Contech's see in a folder of exports, as JSON."""

import gzip
import json
import struct
import sys
from collections import Counter
from pathlib import Path


def perfetto(path):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

    trace = messages.Trace()
    trace.ParseFromString(path.read_bytes())
    event = messages.TrackEvent
    tracks, open_slices = {}, {}
    names, places, says = {}, {}, {}
    slices, categories, running, files = Counter(), Counter(), Counter(), set()
    starts, ends = Counter(), Counter()
    counted = []
    for packet in trace.packet:
        for table, entries in (
            (names, packet.interned_data.event_names),
            (says, packet.interned_data.debug_annotation_names),
        ):
            table.update((entry.iid, entry.name) for entry in entries)
        places.update((place.iid, place) for place in packet.interned_data.source_locations)
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if not packet.HasField("track_event"):
            continue
        one = packet.track_event
        assert one.track_uuid in tracks, "an event of no track"
        starts.update(one.flow_ids)
        ends.update(one.terminating_flow_ids)
        said = {says[a.name_iid]: a.string_value or a.uint_value for a in one.debug_annotations}
        if one.type == event.TYPE_COUNTER:
            counted.append((packet.timestamp, one.counter_value))
        elif one.type == event.TYPE_SLICE_END:
            begun, category = open_slices.pop(one.track_uuid)
            assert begun <= packet.timestamp, "a slice ends before it begins"
            running[category] += packet.timestamp - begun
        else:
            slices[names[one.name_iid]] += 1
            categories.update(one.categories)
            if one.source_location_iid:
                files.add(places[one.source_location_iid].file_name.rsplit("/")[-1])
            if one.type == event.TYPE_SLICE_BEGIN:
                assert one.track_uuid not in open_slices, "slices of a track overlap"
                open_slices[one.track_uuid] = (packet.timestamp, one.categories[0])
    assert not open_slices, "a slice never ends"
    area = sum(value * (to - at) for (at, value), (to, _) in zip(counted, counted[1:]))
    return {
        "threads": sum(track.HasField("thread") for track in tracks.values()),
        "slices": slices,
        "categories": categories,
        "ns": running,
        "files": sorted(files),
        "flows": len(starts),
        "whole_flows": sum(starts[flow] == ends[flow] == 1 for flow in starts | ends),
        "running_ns": area,
    }


def folded(path):
    from flamegraph_textual.parsers import parse

    root = parse(path.read_bytes(), path.name, "stackcollapse").root_stack
    names = set()

    def visit(frame):
        names.add(frame.name)
        for child in frame.children:
            visit(child)

    visit(root)
    return {"total": root.values[0], "names": sorted(names)}


def otf2_archive(path):
    import otf2
    from otf2.events import Enter, Leave, MpiRecv, MpiSend

    sent, received = [], []
    locations, inside, files, lines, groups = {}, {}, set(), {}, {}
    open_regions, last, events = {}, {}, 0
    with otf2.reader.open(str(path / "traces.otf2")) as trace:
        clock = trace.definitions.clock_properties
        assert clock.timer_resolution == 1_000_000_000
        for location, event in trace.events:
            own = locations.setdefault(location.name, {"code_ns": Counter(), "waits_ns": Counter()})
            groups.setdefault(location.group.name, []).append(location.name)
            stack = open_regions.setdefault(location.name, [])
            begun = last.get(location.name, 0)
            assert event.time >= begun, "time goes back"
            if stack:
                waits = stack[-1].startswith("waits: ")
                own["waits_ns" if waits else "code_ns"][stack[-1]] += event.time - begun
            last[location.name] = event.time
            events += 1
            if isinstance(event, (MpiSend, MpiRecv)):
                # Who it goes to or comes from is a place in the group of the communicator.
                is_sent = isinstance(event, MpiSend)
                place = event.receiver if is_sent else event.sender
                peer = event.communicator.group.members[place]
                ends = [location.group.name, peer.group.name]
                assert event.msg_tag == 2**32 - 1 and event.msg_length == 2**64 - 1
                (sent if is_sent else received).append((ends if is_sent else ends[::-1], event.time))
                continue
            name = event.region.name
            files.add(event.region.source_file.rsplit("/")[-1])
            lines[name] = event.region.begin_line_number
            if isinstance(event, Enter):
                if stack:
                    inside.setdefault(name, set()).add(stack[-1])
                stack.append(name)
            else:
                assert isinstance(event, Leave) and stack.pop() == name, "regions overlap"
        counts = sum(location.number_of_events for location in trace.definitions.locations)
        assert counts == events, "locations have other numbers of events"
    assert not any(open_regions.values()), "a region never ends"
    for (ends, begun), (others, done) in zip(sorted(sent), sorted(received), strict=True):
        assert ends == others and begun <= done, "a message is received before it is sent"
    return {
        "messages": sorted(ends for ends, _ in sent),
        "locations": locations,
        "groups": {group: sorted(set(names)) for group, names in groups.items()},
        "inside": {name: sorted(outer) for name, outer in inside.items()},
        "files": sorted(files),
        "lines": lines,
        "events": events,
        "end_ns": clock.trace_length,
    }


def champsim(path):
    """Records, beside what the table of the accesses has of the cache lines."""
    import duckdb

    record = struct.Struct("<Q2B2B4B2Q4Q")
    assert record.size == 64
    branches, taken, lines, jumps = 0, 0, Counter(), 0
    for trace in path.iterdir():
        before = None
        for fields in record.iter_unpack(gzip.decompress(trace.read_bytes())):
            at, is_branch, is_taken, registers = fields[0], fields[1], fields[2], fields[3:9]
            assert registers == ((26, 0, 26, 25, 0, 0) if is_branch else (0,) * 6), fields
            stores, loads = fields[9:11], fields[11:15]
            branches, taken = branches + is_branch, taken + is_taken
            lines.update((address >> 6, True) for address in stores if address)
            lines.update((address >> 6, False) for address in loads if address)
            if before and at not in (before[0], before[0] + 4):
                assert before[2], "a jump that no branch takes"
                jumps += 1
            before = fields[:3]
    accesses = f"'{path.parent}/tables/accesses/**/*.parquet'"
    question = f"""SELECT line, write, count(*) FROM (
        SELECT write, unnest(range(address // 64, (address + bytes - 1) // 64 + 1)) AS line
        FROM {accesses} WHERE bytes > 0) GROUP BY ALL"""
    expected = {(line, write): times for line, write, times in duckdb.sql(question).fetchall()}
    return {
        "branches": branches,
        "taken": taken,
        "jumps": jumps,
        "files": len(list(path.iterdir())),
        "lines": len(lines),
        "as_the_table": lines == expected,
    }


READERS = {
    "instructions": champsim,
    "archive": otf2_archive,
    "trace.pftrace": perfetto,
    "work.folded": folded,
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    seen = {}
    for path in sorted(folder.iterdir()):
        reader = READERS.get(path.name) or (folded if path.suffix == ".folded" else None)
        if reader:
            seen[path.name] = reader(path)
    json.dump(seen, sys.stdout)
