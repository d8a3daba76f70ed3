//! Prints of series and metadata rows → whether this process has stored them already.
//!
//! A series is written again on every day that it has points, so that a query finds the series of a window by
//! day. Looking takes no lock: a print has two buckets, each one cache line of eight words, and a word is read or
//! written as a whole. What is overwritten is stored once more, which changes nothing for queries.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// Words in a cache line.
const WAYS: usize = 8;

/// A fingerprint of what makes a row the row that it is; made with a secret of the process, so that no sender can
/// choose names and labels that share one with another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// Where to look.
    place: u64,
    /// What to find there.
    mark: u64,
    day: u16,
}

impl Fingerprint {
    /// The series of this family with this id, on this day.
    #[must_use]
    pub fn series(self, id: u64, day: u16) -> Self {
        Self {
            place: mixed(self.place ^ id, 0x9e37_79b9_7f4a_7c15),
            mark: mixed(self.mark ^ id.rotate_left(32), 0xd6e8_feb8_6659_fd93),
            day,
        }
    }

    /// What a push says of this family, on this day.
    #[must_use]
    pub fn metadata(self, kind: &str, unit: &str, help: &str, day: u16) -> Self {
        // The hash of one is the seed of the next, so that no two lists of them are hashed alike.
        let about = xxh3_64_with_seed(help.as_bytes(), self.place);
        let about = xxh3_64_with_seed(unit.as_bytes(), about);
        let about = xxh3_64_with_seed(kind.as_bytes(), about);
        Self {
            place: mixed(about, 0x9e37_79b9_7f4a_7c15),
            mark: mixed(self.mark ^ about, 0xd6e8_feb8_6659_fd93),
            day,
        }
    }

    /// The word that stands for the print: 48 bits of it and the day, never 0.
    fn word(self) -> u64 {
        let word = self.mark << 16 | u64::from(self.day);
        word.max(1)
    }
}

/// The halves of the product, one over the other: every bit of `number` reaches most bits of it.
fn mixed(number: u64, by: u64) -> u64 {
    let [high, low] = halves(u128::from(number) * u128::from(by));
    high ^ low
}

fn halves(wide: u128) -> [u64; 2] {
    let half =
        |shift: u32| u64::try_from((wide >> shift) & u128::from(u64::MAX)).unwrap_or_default();
    [half(64), half(0)]
}

/// What the prints of a tenant's families are made with; secret like those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantPrint(u64);

impl TenantPrint {
    /// The print of a family, from which those of its rows are made.
    #[must_use]
    pub fn family(self, name: &str) -> Fingerprint {
        let [place, mark] = halves(xxh3_128_with_seed(name.as_bytes(), self.0));
        Fingerprint {
            place,
            mark,
            day: 0,
        }
    }
}

/// One cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Bucket([AtomicU64; WAYS]);

impl Bucket {
    fn has(&self, word: u64) -> bool {
        self.words().any(|held| held == word)
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|slot| slot.load(Ordering::Relaxed))
    }

    /// Slots that are empty or of an earlier day.
    fn free(&self, day: u16) -> usize {
        self.words()
            .filter(|word| word & 0xffff < u64::from(day))
            .count()
    }

    /// The slot to write to, with what makes it the better choice: the lower, the better. An empty slot is better
    /// than an old day's, an old day's better than a new one's.
    fn worst(&self, chance: usize) -> (u64, &AtomicU64) {
        let rotated = (0..WAYS).map(|at| &self.0[(at + chance) % WAYS]);
        let day = |slot: &AtomicU64| slot.load(Ordering::Relaxed) & 0xffff;
        let worst = rotated
            .map(|slot| (day(slot), slot))
            .min_by_key(|(day, _)| *day);
        worst.unwrap_or((u64::MAX, &self.0[0]))
    }
}

/// What is stored already, within a fixed amount of memory for all tenants.
#[derive(Debug)]
pub struct Known {
    buckets: Box<[Bucket]>,
    /// The secret in each print.
    seed: u64,
}

impl Known {
    /// Remembers about `capacity` rows, 10 bytes each; beyond it the oldest day's are overwritten first.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        // Two choices fill buckets of eight almost evenly: with a fifth to spare, hardly a print finds both full.
        let slots = usize::try_from(capacity).unwrap_or(usize::MAX);
        let buckets = (slots / WAYS).saturating_mul(5) / 4 + 1;
        Self {
            buckets: (0..buckets).map(|_| Bucket::default()).collect(),
            seed: RandomState::new().hash_one(0),
        }
    }

    /// What the prints of a tenant's families are made with.
    #[must_use]
    pub fn tenant(&self, tenant: &str) -> TenantPrint {
        TenantPrint(xxh3_64_with_seed(tenant.as_bytes(), self.seed))
    }

    /// Whether the row with this print is stored.
    #[must_use]
    pub fn has(&self, print: Fingerprint) -> bool {
        let word = print.word();
        let [first, second] = self.places(print);
        first.has(word) || second.has(word)
    }

    /// Notes rows that are stored now.
    pub fn remember(&self, stored: Vec<Fingerprint>) {
        for print in stored {
            if !self.has(print) {
                self.write(print);
            }
        }
    }

    /// Forgets everything, for when what was stored is there no more.
    pub fn clear(&self) {
        let slots = self.buckets.iter().flat_map(|bucket| &bucket.0);
        slots.for_each(|slot| slot.store(0, Ordering::Relaxed));
    }

    /// Two pushes that write the same slot at the same time lose one of their prints.
    fn write(&self, print: Fingerprint) {
        let [first, second] = self.places(print);
        let chance = usize::from(print.word().to_le_bytes()[3]);
        let (first, second) = if first.free(print.day) >= second.free(print.day) {
            (first.worst(chance), second.worst(chance))
        } else {
            (second.worst(chance), first.worst(chance))
        };
        let (_, slot) = if first.0 <= second.0 { first } else { second };
        slot.store(print.word(), Ordering::Relaxed);
    }

    /// The two buckets where a print may be.
    fn places(&self, print: Fingerprint) -> [&Bucket; 2] {
        let [high, low] = [print.place >> 32, print.place & 0xffff_ffff];
        [high, low].map(|half| {
            let buckets = u64::try_from(self.buckets.len()).unwrap_or(u64::MAX);
            // Below the number of buckets, because half is below 2³².
            let at = (u128::from(half) * u128::from(buckets)) >> 32;
            &self.buckets[usize::try_from(at).unwrap_or_default()]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that looks like an id.
    fn id(number: u64) -> u64 {
        xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes())
    }

    #[test]
    fn rows_are_unknown_until_they_are_remembered_and_again_on_the_next_day() {
        let known = Known::new(1000);
        let up = known.tenant("acme").family("up");
        assert!(!known.has(up.series(1, 20_000)));
        known.remember(vec![up.series(1, 20_000), up.series(2, 20_000)]);
        assert!(known.has(up.series(1, 20_000)) && known.has(up.series(2, 20_000)));
        for other in [
            up.series(1, 20_001),
            up.series(3, 20_000),
            known.tenant("acme").family("down").series(1, 20_000),
            known.tenant("other").family("up").series(1, 20_000),
            known.tenant("acmeu").family("p").series(1, 20_000),
            up.metadata("gauge", "", "", 20_000),
        ] {
            assert!(!known.has(other), "{other:?}");
        }
    }

    #[test]
    fn metadata_is_known_by_all_that_it_says() {
        let known = Known::new(1000);
        let up = known.tenant("acme").family("up");
        known.remember(vec![up.metadata("gauge", "s", "x", 5)]);
        assert!(known.has(up.metadata("gauge", "s", "x", 5)));
        for other in [
            up.metadata("counter", "s", "x", 5),
            up.metadata("gauge", "", "sx", 5),
            up.metadata("gauge", "s", "y", 5),
            up.metadata("gauge", "s", "x", 6),
            known
                .tenant("acme")
                .family("down")
                .metadata("gauge", "s", "x", 5),
        ] {
            assert!(!known.has(other), "{other:?}");
        }
    }

    #[test]
    fn as_many_rows_as_asked_for_are_remembered() {
        let known = Known::new(20_000);
        let up = known.tenant("acme").family("up");
        let prints: Vec<_> = (0..20_000).map(|at| up.series(id(at), 20_000)).collect();
        known.remember(prints.clone());
        let kept = prints.iter().filter(|print| known.has(**print)).count();
        assert!(kept >= 19_990, "{kept}");
    }

    #[test]
    fn a_new_day_takes_the_place_of_an_old_one() {
        let known = Known::new(20_000);
        let up = known.tenant("acme").family("up");
        let day = |day: u16| -> Vec<_> { (0..20_000).map(|at| up.series(id(at), day)).collect() };
        known.remember(day(20_000));
        known.remember(day(20_001));
        let kept =
            |prints: &[Fingerprint]| prints.iter().filter(|print| known.has(**print)).count();
        assert!(kept(&day(20_001)) >= 19_900, "{}", kept(&day(20_001)));
        assert!(kept(&day(20_000)) < 6_000, "{}", kept(&day(20_000)));
    }

    #[test]
    fn nothing_is_known_after_clear() {
        let known = Known::new(100);
        let print = known.tenant("acme").family("up").series(1, 20_000);
        known.remember(vec![print]);
        known.clear();
        assert!(!known.has(print));
    }

    #[test]
    fn another_process_has_other_prints() {
        let prints = [(); 2].map(|()| Known::new(1).tenant("acme").family("up"));
        assert_ne!(prints[0], prints[1]);
    }
}
