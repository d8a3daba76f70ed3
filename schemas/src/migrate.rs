//! Numbered SQL files → a database at this binary's version: each file is applied once, in order.
//!
//! ClickHouse has no transactions over DDL, so every statement is written to be repeatable
//! (`IF NOT EXISTS`): a migration cut short is simply applied again.

use clickhouse::{Client, Row};
use serde::{Deserialize, Serialize};

use crate::connect::{self, Config};
use crate::tables;

/// One numbered migration.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Position in the order; 1 is first.
    pub version: u32,
    /// File name without the ending.
    pub name: &'static str,
    /// The statements, separated by `;`.
    pub sql: &'static str,
}

/// All migrations of this binary, in order.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    name: "0001_metrics",
    sql: include_str!("../clickhouse/0001_metrics.sql"),
}];

/// The schema version of this binary.
#[must_use]
pub fn latest() -> u32 {
    MIGRATIONS
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0)
}

/// Why the schema is not as this binary needs it.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The server has migrations that this binary does not know.
    #[error(
        "the database {database:?} has schema version {found}, newer than this binary's {known}: \
         upgrade sluice, or point clickhouse.database at another database"
    )]
    Newer {
        /// The configured database.
        database: String,
        /// Version on the server.
        found: u32,
        /// Version of this binary.
        known: u32,
    },
    /// The server lacks migrations and this role does not apply them.
    #[error(
        "the database {database:?} has schema version {found}, this binary needs {known}: run `sluice migrate`"
    )]
    Older {
        /// The configured database.
        database: String,
        /// Version on the server.
        found: u32,
        /// Version of this binary.
        known: u32,
    },
    /// The database's name cannot be used.
    #[error("clickhouse.database {0:?} is not a name of letters, digits and underscores")]
    Name(String),
    /// A statement failed.
    #[error("migration {name} failed on ClickHouse")]
    Statement {
        /// Which migration.
        name: String,
        /// ClickHouse's answer.
        source: Box<clickhouse::error::Error>,
    },
    /// ClickHouse could not be asked.
    #[error("cannot read the schema version from ClickHouse")]
    Unreachable(#[source] Box<clickhouse::error::Error>),
}

/// A row of the table that remembers what was applied.
#[derive(Debug, Row, Serialize, Deserialize)]
struct Applied {
    version: u32,
    name: String,
}

/// Creates the database where needed and applies what is missing; answers the versions applied now.
/// Running it again applies nothing.
///
/// # Errors
/// [`MigrateError`]; nothing is applied when the server is newer than this binary.
pub async fn migrate(config: &Config) -> Result<Vec<u32>, MigrateError> {
    let database = database_name(config)?;
    run(
        &connect::server(config),
        "database",
        &format!("CREATE DATABASE IF NOT EXISTS {database}"),
    )
    .await?;
    let client = connect::client(config);
    run(&client, "bookkeeping", &bookkeeping()).await?;
    let found = version(&client).await?;
    refuse_newer(config, found)?;
    let mut applied = Vec::new();
    for migration in MIGRATIONS
        .iter()
        .filter(|migration| migration.version > found)
    {
        for statement in statements(migration.sql) {
            run(&client, migration.name, statement).await?;
        }
        remember(&client, migration).await?;
        tracing::info!(
            version = migration.version,
            name = migration.name,
            "applied migration"
        );
        applied.push(migration.version);
    }
    Ok(applied)
}

/// Checks that the server's schema is exactly this binary's, for roles that do not migrate.
///
/// # Errors
/// [`MigrateError::Newer`], [`MigrateError::Older`] or that ClickHouse does not answer.
pub async fn check(config: &Config) -> Result<(), MigrateError> {
    database_name(config)?;
    let client = connect::client(config);
    let found = match version(&client).await {
        Err(MigrateError::Unreachable(error)) if is_missing(&error) => 0,
        other => other?,
    };
    refuse_newer(config, found)?;
    if found < latest() {
        return Err(MigrateError::Older {
            database: config.database.clone(),
            found,
            known: latest(),
        });
    }
    Ok(())
}

/// Whether ClickHouse said that the database or the table is not there (codes 81 and 60).
fn is_missing(error: &clickhouse::error::Error) -> bool {
    matches!(error, clickhouse::error::Error::BadResponse(text)
        if text.contains("UNKNOWN_DATABASE") || text.contains("UNKNOWN_TABLE"))
}

fn refuse_newer(config: &Config, found: u32) -> Result<(), MigrateError> {
    if found > latest() {
        return Err(MigrateError::Newer {
            database: config.database.clone(),
            found,
            known: latest(),
        });
    }
    Ok(())
}

/// The configured database, checked so that it may stand in a statement.
fn database_name(config: &Config) -> Result<&str, MigrateError> {
    let name = config.database.as_str();
    let plain = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if plain {
        Ok(name)
    } else {
        Err(MigrateError::Name(config.database.clone()))
    }
}

fn bookkeeping() -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {} (version UInt32, name String, applied_at DateTime('UTC') DEFAULT now()) \
         ENGINE = MergeTree ORDER BY version",
        tables::MIGRATIONS
    )
}

async fn version(client: &Client) -> Result<u32, MigrateError> {
    client
        .query(&format!("SELECT max(version) FROM {}", tables::MIGRATIONS))
        .fetch_one::<u32>()
        .await
        .map_err(|error| MigrateError::Unreachable(Box::new(error)))
}

async fn remember(client: &Client, migration: &Migration) -> Result<(), MigrateError> {
    let failed = |source| MigrateError::Statement {
        name: migration.name.to_owned(),
        source: Box::new(source),
    };
    let mut insert = client
        .insert::<Applied>(tables::MIGRATIONS)
        .await
        .map_err(failed)?;
    insert
        .write(&Applied {
            version: migration.version,
            name: migration.name.to_owned(),
        })
        .await
        .map_err(failed)?;
    insert.end().await.map_err(failed)
}

async fn run(client: &Client, name: &str, statement: &str) -> Result<(), MigrateError> {
    client
        .query(statement)
        .execute()
        .await
        .map_err(|source| MigrateError::Statement {
            name: name.to_owned(),
            source: Box::new(source),
        })
}

/// The statements of a migration file: `;` ends one, `--` starts a comment line. The files hold no
/// string with either, which a test checks.
fn statements(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(';').filter(|statement| {
        statement
            .lines()
            .any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("--"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbered_from_one_without_gaps_and_match_their_file_names() {
        for (position, migration) in MIGRATIONS.iter().enumerate() {
            assert_eq!(usize::try_from(migration.version).unwrap(), position + 1);
            assert!(
                migration
                    .name
                    .starts_with(&format!("{:04}_", migration.version)),
                "{}",
                migration.name
            );
        }
    }

    #[test]
    fn files_split_into_whole_statements() {
        for migration in MIGRATIONS {
            for statement in statements(migration.sql) {
                assert_eq!(
                    statement.matches('\'').count() % 2,
                    0,
                    "a string was cut in {}",
                    migration.name
                );
                assert_eq!(
                    statement.matches('(').count(),
                    statement.matches(')').count(),
                    "{statement}"
                );
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/clickhouse");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let listed: Vec<String> = MIGRATIONS
            .iter()
            .map(|migration| format!("{}.sql", migration.name))
            .collect();
        assert_eq!(files, listed);
    }

    #[test]
    fn a_database_name_that_could_break_a_statement_is_refused() {
        for name in ["", "a-b", "1a", "a;DROP", "a b"] {
            let config = Config {
                url: "http://127.0.0.1:1".parse().unwrap(),
                database: name.to_owned(),
                user: String::new(),
                password: String::new().into(),
            };
            assert!(
                matches!(database_name(&config), Err(MigrateError::Name(_))),
                "{name:?}"
            );
        }
    }
}
