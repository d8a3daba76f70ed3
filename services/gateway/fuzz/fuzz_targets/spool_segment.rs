//! Any file is read as a segment without a panic, every byte after its header is in a record or counted as damaged,
//! and undamaged records come back as they were written.

#![no_main]

use bytes::Bytes;
use gateway::spool::segment::{FRAME, HEADER, Identity};
use libfuzzer_sys::fuzz_target;

fn all_accounted(identity: Identity, file: Vec<u8>) -> Vec<Bytes> {
    let length = file.len();
    let contents = identity.contents(&Bytes::from(file));
    let kept: usize = contents.records.iter().map(|record| FRAME + record.len()).sum();
    let lost: usize = contents.damage.iter().map(|damage| damage.length).sum();
    assert_eq!(kept + lost, length.saturating_sub(HEADER));
    contents.records
}

fuzz_target!(|input: (Vec<u8>, Vec<Vec<u8>>, Option<(u16, u8)>)| {
    let (wild, payloads, blow) = input;
    if let Ok(identity) = Identity::read(&wild) {
        drop(all_accounted(identity, wild));
    }

    let identity = Identity {
        instance: [7; 16],
        number: 1,
    };
    let mut file = identity.header().to_vec();
    for payload in &payloads {
        let offset = u64::try_from(file.len()).unwrap_or(u64::MAX);
        if let Some(head) = identity.head(offset, payload) {
            file.extend(head);
            file.extend(payload);
        }
    }
    let Some((at, mask)) = blow else {
        assert_eq!(all_accounted(identity, file), payloads);
        return;
    };
    let at = usize::from(at) % file.len();
    file[at] ^= mask;
    assert!(all_accounted(identity, file).len() + 1 >= payloads.len());
});
