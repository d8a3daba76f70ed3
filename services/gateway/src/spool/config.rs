//! The spool's settings and their defaults.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

use super::segment;

/// Settings of section `gateway.spool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Folder of the segments; it belongs to one process alone.
    pub dir: PathBuf,
    /// Bytes of all segments together, those set aside included; a push that does not fit is answered 503.
    pub max_bytes: ByteSize,
    /// Bytes that stay free on the disk; a push that would take of them is answered 503. 0: no reserve.
    pub min_free_bytes: ByteSize,
    /// Size at which a segment is handed to delivery. A larger record has a segment of its own.
    pub segment_bytes: ByteSize,
    /// Age of its first record at which a segment is handed to delivery, when no older one waits.
    #[serde(with = "humantime_serde")]
    pub seal_after: Duration,
    /// Largest record; a larger one is refused.
    pub max_record_bytes: ByteSize,
    /// Times that ClickHouse may refuse a segment's rows before the segment is set aside.
    pub poison_tries: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dir: PathBuf::new(),
            max_bytes: ByteSize::gib(8),
            min_free_bytes: ByteSize::mib(512),
            segment_bytes: ByteSize::mib(32),
            seal_after: Duration::from_secs(1),
            max_record_bytes: ByteSize::mib(256),
            poison_tries: 5,
        }
    }
}

impl Config {
    /// Looks for settings that can be read and cannot work: the key within the section, and what to write
    /// instead.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let record = self.max_record_bytes.as_u64();
        for (key, nothing) in [
            ("max_bytes", self.max_bytes.as_u64() == 0),
            ("segment_bytes", self.segment_bytes.as_u64() == 0),
            ("seal_after", self.seal_after.is_zero()),
            ("max_record_bytes", record == 0),
            ("poison_tries", self.poison_tries == 0),
        ] {
            if nothing {
                return Err((key, "0 cannot work; write more".to_owned()));
            }
        }
        if record > u64::from(u32::MAX) {
            let what = format!("{record} B is more than a record can have; write less than 4 GiB");
            return Err(("max_record_bytes", what));
        }
        let most = self.max_bytes.as_u64();
        for (key, bytes) in [
            ("segment_bytes", self.segment_bytes.as_u64()),
            ("max_record_bytes", segment_of(record)),
        ] {
            if bytes > most {
                let what = format!("{bytes} B do not fit in max_bytes, {most} B; write less");
                return Err((key, what));
            }
        }
        Ok(())
    }
}

/// Size of a segment with one record of `payload` bytes.
fn segment_of(payload: u64) -> u64 {
    let around = u64::try_from(segment::HEADER + segment::FRAME).unwrap_or(u64::MAX);
    payload.saturating_add(around)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_named() {
        assert_eq!(Config::default().check(), Ok(()));
        for (text, key) in [
            (r#"{"max_bytes":0}"#, "max_bytes"),
            (r#"{"segment_bytes":0}"#, "segment_bytes"),
            (r#"{"seal_after":"0s"}"#, "seal_after"),
            (r#"{"max_record_bytes":0}"#, "max_record_bytes"),
            (r#"{"poison_tries":0}"#, "poison_tries"),
            (r#"{"max_record_bytes":"5 GiB"}"#, "max_record_bytes"),
            (r#"{"max_bytes":"16 MiB"}"#, "segment_bytes"),
            (
                r#"{"max_bytes":"64 MiB","max_record_bytes":"64 MiB"}"#,
                "max_record_bytes",
            ),
        ] {
            let config: Config = serde_json::from_str(text).unwrap();
            assert_eq!(config.check().unwrap_err().0, key, "{text}");
        }
        let none = r#"{"min_free_bytes":0}"#;
        assert_eq!(
            serde_json::from_str::<Config>(none).unwrap().check(),
            Ok(())
        );
    }
}
