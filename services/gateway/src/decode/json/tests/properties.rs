//! What holds for any bytes and any message.

use proptest::collection::vec;
use proptest::prelude::*;

use super::canonical::canonical;
use super::metrics;
use crate::decode::arbitrary::request;
use crate::decode::generated;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_message_reads_back_from_its_canonical_json(request in request()) {
        let json = canonical(&request).to_string();
        let read = generated::of(&metrics(json.as_bytes()).unwrap().request);
        prop_assert_eq!(read, generated::reduced(request));
    }

    #[test]
    fn any_bytes_are_decoded_or_refused_without_a_panic(bytes in vec(any::<u8>(), 0..200)) {
        drop(metrics(&bytes));
    }

    #[test]
    fn damaged_json_is_decoded_or_refused_without_a_panic(
        request in request(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut json = canonical(&request).to_string().into_bytes();
        for (at, byte) in damage {
            let at = at.index(json.len());
            json[at] = byte;
        }
        drop(metrics(&json));
    }

    #[test]
    fn what_counts_as_json_is_what_serde_json_says(text in r#"[\[\]{}",:0-9eE.+\-truefalsn\\u ]{0,12}"#) {
        let json = format!(r#"{{"x":{text}}}"#);
        let expected = serde_json::from_str::<serde_json::Value>(&json);
        // Numbers beyond doubles and half surrogate pairs are refused there and skipped here.
        let stricter = expected.as_ref().err().map(ToString::to_string).unwrap_or_default();
        prop_assume!(!stricter.contains("out of range") && !stricter.contains("surrogate"));
        prop_assert_eq!(metrics(json.as_bytes()).is_ok(), expected.is_ok(), "{}", json);
    }
}
