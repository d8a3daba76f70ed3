//! Turns a series' labels, kind and bounds into the number that stands for it.

use schemas::rows::SeriesKind;
use xxhash_rust::xxh3::xxh3_64;

use super::labels::Label;

/// Ends names and values; no byte of UTF-8 has this value, so no two label sets are written alike.
const END: u8 = 0xff;
/// Begins what follows the labels; not a byte of UTF-8 either.
const SHAPE: u8 = 0xfe;

/// xxh3-64 of what [`write`] wrote. The metric's name is not in it: ids are unique within tenant and
/// metric. Stored for ever, so it never changes.
pub(super) fn series_id(identity: &[u8]) -> u64 {
    xxh3_64(identity)
}

/// Appends the sorted labels, and for histograms kind and bounds, so that no two series are written alike.
pub(super) fn write(labels: &[Label<'_>], kind: SeriesKind, bounds: &[f64], buffer: &mut Vec<u8>) {
    for label in labels {
        buffer.extend_from_slice(label.name.as_bytes());
        buffer.push(END);
        buffer.extend_from_slice(label.value.as_bytes());
        buffer.push(END);
    }
    if kind != SeriesKind::Number {
        buffer.push(SHAPE);
        buffer.push(kind.code());
        for bound in bounds {
            buffer.extend_from_slice(&bound.to_bits().to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(labels: &[(&str, &str)], kind: SeriesKind, bounds: &[f64]) -> u64 {
        let labels: Vec<_> = labels
            .iter()
            .map(|(name, value)| Label { name, value })
            .collect();
        let mut identity = Vec::new();
        write(&labels, kind, bounds, &mut identity);
        series_id(&identity)
    }

    #[test]
    fn ids_stay_the_same_from_release_to_release() {
        let ids = [
            id(&[], SeriesKind::Number, &[]),
            id(&[("job", "api"), ("le", "5")], SeriesKind::Number, &[]),
            id(
                &[("job", "api")],
                SeriesKind::ExplicitHistogram,
                &[0.5, 1.0],
            ),
        ];
        assert_eq!(
            ids,
            [
                3_244_421_341_483_603_138,
                12_388_915_826_006_191_965,
                1_316_626_966_292_791_311
            ]
        );
    }

    #[test]
    fn moving_a_letter_between_name_and_value_changes_the_id() {
        let number = SeriesKind::Number;
        assert_ne!(
            id(&[("ab", "c")], number, &[]),
            id(&[("a", "bc")], number, &[])
        );
        assert_ne!(
            id(&[("a", "b"), ("c", "d")], number, &[]),
            id(&[("a", "bcd")], number, &[])
        );
    }

    #[test]
    fn kind_and_bounds_are_part_of_a_histograms_id() {
        let labels = [("a", "b")];
        let explicit = SeriesKind::ExplicitHistogram;
        let ids = [
            id(&labels, SeriesKind::Number, &[]),
            id(&labels, explicit, &[]),
            id(&labels, explicit, &[1.0]),
            id(&labels, explicit, &[2.0]),
            id(&labels, SeriesKind::ExponentialHistogram, &[]),
        ];
        for (index, first) in ids.iter().enumerate() {
            assert!(!ids[index + 1..].contains(first));
        }
    }
}
