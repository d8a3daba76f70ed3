//! Configuration and environment → the path of the engine library.

use std::path::PathBuf;

use crate::error::EmbeddedError;

/// The version of the npm packages `@chdb/lib-*` that this crate is written and tested for.
/// `deploy/engine` installs the same one.
pub const ENGINE_VERSION: &str = "26.7.3-stable.1";

const FILE: &str = "libchdb.so";

/// Where the library is: `chosen`, or the place where `deploy/engine` puts [`ENGINE_VERSION`].
///
/// # Errors
/// [`EmbeddedError::NoLibrary`] naming the path when no file is there.
pub fn library_path(chosen: Option<PathBuf>) -> Result<PathBuf, EmbeddedError> {
    let path =
        chosen.unwrap_or_else(|| installed(|name| std::env::var_os(name).map(PathBuf::from)));
    if path.is_file() {
        Ok(path)
    } else {
        Err(EmbeddedError::NoLibrary(path))
    }
}

fn installed(variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    let variable = |name| variable(name).filter(|path| !path.as_os_str().is_empty());
    variable("SLUICE_ENGINE_DIR")
        .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("sluice/engine")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/sluice/engine")))
        .unwrap_or_else(|| PathBuf::from("/var/cache/sluice/engine"))
        .join(ENGINE_VERSION)
        .join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_folder_wins_over_the_cache_folder_and_that_over_home() {
        let all = |name: &str| Some(PathBuf::from(format!("/{name}")));
        assert_eq!(
            installed(all),
            PathBuf::from("/SLUICE_ENGINE_DIR/26.7.3-stable.1/libchdb.so")
        );
        let cache =
            |name: &str| (name != "SLUICE_ENGINE_DIR").then(|| PathBuf::from(format!("/{name}")));
        assert_eq!(
            installed(cache),
            PathBuf::from("/XDG_CACHE_HOME/sluice/engine/26.7.3-stable.1/libchdb.so")
        );
        let home = |name: &str| (name == "HOME").then(|| PathBuf::from("/root"));
        assert_eq!(
            installed(home),
            PathBuf::from("/root/.cache/sluice/engine/26.7.3-stable.1/libchdb.so")
        );
    }

    #[test]
    fn a_missing_library_says_what_to_run() {
        let missing = library_path(Some(PathBuf::from("/nowhere/libchdb.so"))).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the ClickHouse library is not at /nowhere/libchdb.so; run deploy/engine to install it"
        );
    }

    #[test]
    fn deploy_engine_installs_the_version_this_crate_is_written_for() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/engine");
        let script = std::fs::read_to_string(script).unwrap();
        assert!(script.contains(&format!("version={ENGINE_VERSION}\n")));
    }
}
