//! A check → the raw samples that an instant query of a range selector gives.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::check::Check;
use crate::plan::ROUND_MS;
use crate::scenario::Scenario;
use crate::target::{Target, Tenant};

/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Asks as one tenant.
#[derive(Debug)]
pub(super) struct Reader {
    http: reqwest::Client,
    url: String,
    tenant: String,
    key: Option<SecretString>,
}

/// A series that was found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Found {
    /// Labels, with `__name__`.
    pub(super) metric: BTreeMap<String, String>,
    /// Seconds and value.
    pub(super) values: Vec<(f64, String)>,
}

#[derive(Deserialize)]
struct Reply {
    status: String,
    #[serde(default)]
    error: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    result_type: String,
    result: Vec<Found>,
}

impl Reader {
    /// Asks the target as the tenant.
    ///
    /// # Errors
    /// When there is no address to ask.
    pub(super) fn new(target: &Target, tenant: &Tenant) -> anyhow::Result<Self> {
        ensure!(
            !target.query_url.is_empty(),
            "where to read back? give --query-url, or --no-verify"
        );
        Ok(Self {
            http: reqwest::Client::builder().timeout(TIMEOUT).build()?,
            url: format!("{}/api/v1/query", target.query_url),
            tenant: tenant.name.clone(),
            key: tenant.query.clone(),
        })
    }

    /// The raw samples of the check's metric and rounds.
    ///
    /// # Errors
    /// When there is no answer, or an error.
    pub(super) async fn read(
        &self,
        scenario: &Scenario,
        check: &Check,
    ) -> anyhow::Result<Vec<Found>> {
        let (query, time) = query(scenario, check);
        let mut request = self
            .http
            .post(&self.url)
            .form(&[("query", query.as_str()), ("time", &time)]);
        if let Some(key) = &self.key {
            request = request.basic_auth(&self.tenant, Some(key.expose_secret()));
        }
        let response = request.send().await.context("no answer to a query")?;
        let status = response.status();
        let body = response.bytes().await.context("an answer broke off")?;
        let reply: Reply = serde_json::from_slice(&body)
            .with_context(|| format!("{query} was answered {status} with no Prometheus answer"))?;
        let Some(data) = reply.data.filter(|_| reply.status == "success") else {
            bail!("{query} was answered {status}: {}", reply.error);
        };
        ensure!(
            data.result_type == "matrix",
            "{query} was answered with a {}",
            data.result_type
        );
        Ok(data.result)
    }
}

/// Query and time. The window ends with the last round and begins between two rounds, so that it does
/// not matter whether its beginning belongs to it.
fn query(scenario: &Scenario, check: &Check) -> (String, String) {
    let (label, value) = scenario.run_label();
    let rounds = i64::from(check.rounds.end - check.rounds.start);
    let last = scenario.plan.time(check.rounds.end.saturating_sub(1));
    let window = (rounds * ROUND_MS - ROUND_MS / 2) / 1000;
    let query = format!("{}{{{label}={value:?}}}[{window}s]", check.name);
    (query, (last / 1000).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Provider;
    use crate::plan::tests::small;
    use crate::verify::check::Part;

    #[test]
    fn a_check_asks_for_its_rounds_and_its_run() {
        let mut plan = small(Provider::Cerebrium);
        plan.start_ms = 6_000_000;
        let check = Check {
            tenant: 0,
            metric: 0,
            part: Part::Number,
            name: "a".to_owned(),
            rounds: 1..4,
        };
        let (query, time) = query(&Scenario::new(plan), &check);
        assert_eq!(query, "a{project_id=\"p-load-r1\"}[150s]");
        assert_eq!(time, "6180");
    }

    #[test]
    fn a_matrix_is_read() {
        let text = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[1.5,"2"]]}]}}"#;
        let reply: Reply = serde_json::from_str(text).unwrap();
        assert_eq!(
            reply.data.unwrap().result[0].values,
            [(1.5, "2".to_owned())]
        );
    }
}
