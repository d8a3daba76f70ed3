//! Request headers → who reads, and permission to read one tenant's metrics.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use auth::principal::Principal;
use auth::refusal::Refusal;
use auth::tenant::TenantScope;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use runtime::error::ErrorKind;

use crate::app::App;
use crate::http::reply::{ErrorType, Failure};

/// Somebody who may read metrics. The tenant comes from the credentials alone; a header that merely
/// names one (`X-Scope-OrgID`) is not looked at.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) principal: Arc<Principal>,
    pub(crate) scope: TenantScope,
}

impl FromRequestParts<App> for Reader {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let peer = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip());
        let now = jiff::Timestamp::now();
        let caller =
            auth::directory::authenticate(&*app.directory, &parts.headers, &app.headers, peer, now)
                .await?;
        let scope = caller.principal.scope()?;
        let reader = Self {
            principal: caller.principal,
            scope,
        };
        if let Some(seen) = parts.extensions.get::<Seen>() {
            seen.note(&reader);
        }
        Ok(reader)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal.kind() {
            ErrorKind::Unauthenticated => ErrorType::Unauthorized,
            ErrorKind::Forbidden => ErrorType::Forbidden,
            _ => ErrorType::Unavailable,
        };
        Self::new(kind, refusal.public)
    }
}

/// Where the extractor leaves word of who it was, for the log line that is written around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<std::sync::OnceLock<(String, String)>>);

impl Seen {
    fn note(&self, reader: &Reader) {
        self.0.get_or_init(|| {
            (
                reader.scope.tenant().to_string(),
                reader.principal.key().kid.to_string(),
            )
        });
    }

    /// Tenant and key id, empty where nobody was authenticated.
    pub(crate) fn who(&self) -> (&str, &str) {
        self.0.get().map_or(("", ""), |(tenant, kid)| (tenant, kid))
    }
}
