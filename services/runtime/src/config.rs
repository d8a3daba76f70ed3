//! Embedded defaults, a file, the environment and flags → one typed, checked configuration.

use std::path::{Path, PathBuf};

use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Environment variables are `SLUICE__SECTION__KEY`.
const PREFIX: &str = "SLUICE__";

/// Why a configuration was refused; the text names the key and where it came from.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file named by `--config` is not there.
    #[error("configuration file {0} does not exist or cannot be read")]
    Missing(PathBuf),
    /// A key is unknown or a value does not fit.
    #[error("{}", explain(.0))]
    Invalid(Box<figment::Error>),
}

/// Every fault of a configuration on a line of its own: key, what is wrong, where it was set.
fn explain(error: &figment::Error) -> String {
    let lines: Vec<String> = error
        .clone()
        .into_iter()
        .map(|fault| {
            let key = fault.path.join(".");
            let source = fault.metadata.as_ref().map_or_else(
                || "the built-in defaults".to_owned(),
                |from| match &from.source {
                    Some(place) => format!("{} ({place})", from.name),
                    None => from.name.to_string(),
                },
            );
            if key.is_empty() {
                format!("configuration: {} (from {source})", fault.kind)
            } else {
                format!("configuration key {key}: {} (from {source})", fault.kind)
            }
        })
        .collect();
    lines.join("\n")
}

/// Loads `T`: `defaults` (the embedded reference file) under `file` under the environment under
/// `flags`. Unknown keys are errors when `T` denies them, and it should.
///
/// # Errors
/// [`ConfigError`] naming the key and its source.
pub fn load<T: DeserializeOwned>(
    defaults: &str,
    file: Option<&Path>,
    flags: impl Serialize,
) -> Result<T, ConfigError> {
    let mut figment = Figment::from(Toml::string(defaults));
    if let Some(path) = file {
        if !path.is_file() {
            return Err(ConfigError::Missing(path.to_owned()));
        }
        figment = figment.merge(Toml::file_exact(path));
    }
    figment
        .merge(Env::prefixed(PREFIX).split("__"))
        .merge(Serialized::globals(flags))
        .extract()
        .map_err(|error| ConfigError::Invalid(Box::new(error)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Whole {
        gateway: Part,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Part {
        listen: String,
        limit: u32,
    }

    const DEFAULTS: &str = "[gateway]\nlisten = \"a\"\nlimit = 1\n";

    #[derive(Serialize)]
    struct NoFlags {}

    #[test]
    fn a_file_overrides_the_defaults_key_by_key() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "[gateway]\nlimit = 7").unwrap();
        let whole: Whole = load(DEFAULTS, Some(file.path()), NoFlags {}).unwrap();
        assert_eq!(
            whole,
            Whole {
                gateway: Part {
                    listen: "a".into(),
                    limit: 7
                }
            }
        );
    }

    #[test]
    fn an_unknown_key_is_refused_by_name_and_source() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "[gateway]\nlimt = 7").unwrap();
        let text = load::<Whole>(DEFAULTS, Some(file.path()), NoFlags {})
            .unwrap_err()
            .to_string();
        assert!(text.contains("limt"), "{text}");
        assert!(
            text.contains(file.path().file_name().unwrap().to_str().unwrap()),
            "{text}"
        );
    }

    #[test]
    fn a_wrong_value_is_refused_by_key() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "[gateway]\nlimit = \"many\"").unwrap();
        let text = load::<Whole>(DEFAULTS, Some(file.path()), NoFlags {})
            .unwrap_err()
            .to_string();
        assert!(
            text.starts_with("configuration key gateway.limit: "),
            "{text}"
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let text = load::<Whole>(DEFAULTS, Some(Path::new("/nonexistent.toml")), NoFlags {})
            .unwrap_err()
            .to_string();
        assert!(text.contains("/nonexistent.toml"), "{text}");
    }
}
