//! Files that were cut, flipped or forged: what is still read from them.

use proptest::prelude::*;

use super::*;

const OWN: Identity = Identity {
    instance: *b"0123456789abcdef",
    number: 0x0006_0123_4567_89ab,
};

fn file(identity: Identity, payloads: &[&[u8]]) -> Vec<u8> {
    let mut file = identity.header().to_vec();
    for payload in payloads {
        let offset = u64::try_from(file.len()).unwrap();
        file.extend(identity.head(offset, payload).unwrap());
        file.extend(*payload);
    }
    file
}

fn read(file: &[u8]) -> Contents {
    OWN.contents(&Bytes::copy_from_slice(file))
}

#[test]
fn a_file_of_the_first_version_stays_readable() {
    let bytes = file(OWN, &[b"ab", b""]);
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let header = "534c4353504f4f4c0100000030313233343536373839616263646566ab8967452301060058e9029b";
    let frames = "f5d1c3ff02000000383d31475eba33b06162f5d1c3ff00000000ecdecfb1ecdecfb1";
    assert_eq!(text, format!("{header}{header}{frames}"));
    assert_eq!(Identity::read(&bytes), Ok(OWN));
    assert_eq!(
        OWN.token(),
        "30313233343536373839616263646566-00060123456789ab"
    );
}

#[test]
fn a_file_cut_at_any_byte_keeps_every_record_before_the_cut() {
    let payloads: [&[u8]; 3] = [b"first", b"", b"third"];
    let whole = file(OWN, &payloads);
    let ends = [HEADER + 21, HEADER + 37, HEADER + 58];
    assert_eq!(whole.len(), ends[2]);
    for cut in 0..=whole.len() {
        let left = &whole[..cut];
        if cut < COPY {
            assert_eq!(Identity::read(left), Err(Unreadable::Unbegun), "{cut}");
            continue;
        }
        assert_eq!(Identity::read(left), Ok(OWN), "{cut}");
        let kept = ends.iter().filter(|end| **end <= cut).count();
        let end = kept.checked_sub(1).map_or(HEADER, |last| ends[last]);
        let contents = read(left);
        assert_eq!(contents.records, payloads[..kept], "{cut}");
        let lost: Vec<_> = contents
            .damage
            .iter()
            .map(|lost| (lost.offset, lost.length))
            .collect();
        let expected = (cut > end).then(|| (end, cut - end));
        assert_eq!(lost, Vec::from_iter(expected), "{cut}");
    }
}

#[test]
fn one_flipped_bit_costs_at_most_the_record_it_is_in() {
    let payloads: [&[u8]; 4] = [b"first", b"second", b"", b"the last one"];
    let whole = file(OWN, &payloads);
    let mut begins = vec![HEADER];
    for payload in payloads {
        begins.push(begins.last().unwrap() + FRAME + payload.len());
    }
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Identity::read(&flipped), Ok(OWN), "bit {bit}");
        let contents = read(&flipped);
        let hit = begins
            .windows(2)
            .position(|at| (at[0]..at[1]).contains(&(bit / 8)));
        let expected: Vec<_> = payloads
            .iter()
            .enumerate()
            .filter(|(index, _)| Some(*index) != hit)
            .map(|(_, payload)| *payload)
            .collect();
        assert_eq!(contents.records, expected, "bit {bit}");
        let lost: Vec<_> = contents
            .damage
            .iter()
            .map(|lost| (lost.offset, lost.length))
            .collect();
        let range = hit.map(|hit| (begins[hit], begins[hit + 1] - begins[hit]));
        assert_eq!(lost, Vec::from_iter(range), "bit {bit}");
    }
}

#[test]
fn what_is_no_segment_is_told_apart() {
    assert_eq!(Identity::read(b""), Err(Unreadable::Unbegun));
    assert_eq!(Identity::read(&[0; 4096]), Err(Unreadable::Unbegun));
    assert_eq!(Identity::read(b"#!/bin/sh\nexit"), Err(Unreadable::Foreign));
    let mut newer = file(OWN, &[b"x"]);
    newer[8] = 2;
    newer[COPY + 8] = 2;
    assert_eq!(Identity::read(&newer), Err(Unreadable::Version(2)));
    let mut damaged = file(OWN, &[b"x"]);
    damaged[20] ^= 1;
    damaged[COPY + 20] ^= 1;
    assert_eq!(Identity::read(&damaged), Err(Unreadable::Foreign));
}

#[test]
fn frames_of_another_segment_or_place_are_not_read() {
    let other = Identity {
        number: OWN.number + 1,
        ..OWN
    };
    let stale = file(other, &[b"stale"]);
    let mut reused = file(OWN, &[b"own"]);
    reused.extend(&stale[HEADER..]);
    assert_eq!(read(&reused).records, [b"own".as_slice()]);

    // A payload that is itself a file of frames, in a record whose head is damaged.
    let forged = file(OWN, &[b"forged"]);
    let mut whole = file(OWN, &[&forged, b"next"]);
    whole[HEADER] ^= 1;
    assert_eq!(read(&whole).records, [b"next".as_slice()]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_of_a_damaged_file_is_in_a_record_or_in_the_damage(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6),
        blows in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let slices: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
        let mut bytes = file(OWN, &slices);
        for (at, mask) in &blows {
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
        }
        let contents = read(&bytes);
        let kept: usize = contents.records.iter().map(|record| FRAME + record.len()).sum();
        let lost: usize = contents.damage.iter().map(|damage| damage.length).sum();
        prop_assert_eq!(HEADER + kept + lost, bytes.len());
        let mut left = payloads.iter();
        for record in &contents.records {
            prop_assert!(left.any(|payload| payload == record), "records come in order, unchanged");
        }
        prop_assert!(contents.records.len() + blows.len() >= payloads.len());
    }

    #[test]
    fn no_bytes_whatever_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(Identity::read(&bytes));
        let contents = read(&bytes);
        prop_assert!(contents.records.is_empty());
    }
}
