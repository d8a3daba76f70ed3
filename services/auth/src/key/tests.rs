//! Keys: made, read back, and refused when anything about them is off.

use proptest::prelude::*;

use super::*;

#[test]
fn the_checksum_is_crc32_in_digits_capitals_and_small_letters() {
    let body = "slci_4fK9aZ01bQxT_7Qm2vN8rT0yLwXc5BdHjK3pS6uFgEaZi";
    assert_eq!(checksum_of(body), "1u6KBZ");
    let (class, kid) = inspect(&format!(" {body}1u6KBZ\n")).unwrap();
    assert_eq!((class, kid.as_str()), (KeyClass::Ingest, "4fK9aZ01bQxT"));
    assert_eq!(
        inspect(&format!("{body}9f0B1x")).unwrap_err(),
        ShapeError::Checksum
    );
}

#[test]
fn generated_keys_of_every_class_are_read_back() {
    for class in [KeyClass::Ingest, KeyClass::Query, KeyClass::Admin] {
        for _ in 0..100 {
            let key = PlainKey::generate(class).unwrap();
            assert_eq!(key.expose_once().len(), KEY_LENGTH);
            let read = PresentedKey::parse(key.expose_once()).unwrap();
            assert_eq!(read, *key.as_presented());
            assert_eq!((read.class(), read.kid()), (class, key.kid()));
        }
    }
}

#[test]
fn two_generated_keys_differ_in_id_and_secret() {
    let first = PlainKey::generate(KeyClass::Query).unwrap();
    let second = PlainKey::generate(KeyClass::Query).unwrap();
    assert_ne!(first.kid(), second.kid());
    assert!(first.as_presented() != second.as_presented());
}

#[test]
fn debug_output_shows_the_id_and_not_the_secret() {
    let key = PlainKey::generate(KeyClass::Ingest).unwrap();
    let expected = format!("slci_{}_***", key.kid());
    assert_eq!(format!("{key:?}"), expected);
    assert_eq!(format!("{:?}", key.as_presented()), expected);
}

#[test]
fn each_fault_of_a_text_has_its_own_name() {
    let good = PlainKey::generate(KeyClass::Ingest)
        .unwrap()
        .expose_once()
        .to_owned();
    let mut cut = good.clone();
    cut.pop();
    let accented: String = good
        .chars()
        .enumerate()
        .map(|(at, c)| if at == 20 { 'é' } else { c })
        .collect();
    let dashed = good.replacen('_', "-", 2).replacen('-', "_", 1);
    for (text, expected) in [
        ("", ShapeError::Prefix),
        ("glc_abc", ShapeError::Prefix),
        ("SLCI_abc", ShapeError::Prefix),
        (&cut, ShapeError::Length { got: 55 }),
        (&format!("{good}x"), ShapeError::Length { got: 57 }),
        (&dashed, ShapeError::Character { position: 18 }),
        (&accented, ShapeError::Character { position: 21 }),
    ] {
        assert_eq!(PresentedKey::parse(text).unwrap_err(), expected, "{text}");
    }
    assert_eq!(
        ShapeError::Length { got: 55 }.to_string(),
        "the key is cut off or has extra characters: expected 56 characters, got 55"
    );
}

proptest! {
    #[test]
    fn one_changed_character_never_passes(at in 0_usize..KEY_LENGTH, with in "[0-9A-Za-z_]") {
        let key = PlainKey::generate(KeyClass::Ingest).unwrap();
        let mut text = key.expose_once().to_owned();
        text.replace_range(at..=at, &with);
        prop_assume!(text != key.expose_once());
        prop_assert!(PresentedKey::parse(&text).is_err());
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(slc[iqa]_)?\\PC*") {
        drop(PresentedKey::parse(&text));
    }
}
