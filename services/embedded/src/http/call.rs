//! URL and headers of a request → what is asked for, before any byte of the body is read.

use http::request::Parts;
use http::{HeaderMap, Method, header};

use crate::exception::Exception;
use crate::pool::Context;

/// Longest query id.
const QUERY_ID_CHARS: usize = 128;

/// A request without its body.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    /// The `query` parameter.
    pub(super) query: Vec<u8>,
    /// Database and settings.
    pub(super) context: Context,
    /// `param_*`, without the prefix.
    pub(super) params: Vec<(String, String)>,
    /// Format of the answer where the statement names none.
    pub(super) format: Option<String>,
    /// The client's, or a new one.
    pub(super) query_id: String,
    /// The whole answer is collected before its first byte is sent.
    pub(super) wait_for_end: bool,
    /// Asked with GET, which must not change anything.
    pub(super) only_reads: bool,
    /// Compression of the body, by the engine's name.
    pub(super) compression: Option<&'static str>,
    /// Boundary of a multipart body.
    pub(super) boundary: Option<String>,
}

impl Call {
    /// Reads URL and headers. Credentials are accepted and not looked at.
    ///
    /// # Errors
    /// 36 for what makes no sense, 48 for what is not served here.
    pub(super) fn read(parts: &Parts) -> Result<Self, Exception> {
        let mut call = Self {
            only_reads: matches!(parts.method, Method::GET | Method::HEAD),
            compression: compression(&parts.headers)?,
            boundary: boundary(&parts.headers),
            ..Self::default()
        };
        if let Some(database) = text_header(&parts.headers, "x-clickhouse-database") {
            call.context.database = database.to_owned();
        }
        if let Some(format) = text_header(&parts.headers, "x-clickhouse-format") {
            call.format = Some(format_name(format)?);
        }
        let query = parts.uri.query().unwrap_or_default();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            call.parameter(&name, &value)?;
        }
        if call.context.database == "default" {
            call.context.database.clear();
        }
        if call.query_id.is_empty() {
            call.query_id = uuid::Uuid::new_v4().to_string();
        }
        Ok(call)
    }

    /// Takes one parameter of the URL. What is none of the interface's own is a setting.
    fn parameter(&mut self, name: &str, value: &str) -> Result<(), Exception> {
        match name {
            "query" => value.as_bytes().clone_into(&mut self.query),
            "database" => value.clone_into(&mut self.context.database),
            "default_format" => self.format = Some(format_name(value)?),
            "query_id" => self.query_id = query_id(value)?,
            "wait_end_of_query" => self.wait_for_end = switch(value),
            "compress" | "decompress" if switch(value) => {
                return Err(Exception::unsupported(&format!(
                    "{name}=1 (ClickHouse's block compression) is not served by the embedded server; \
                     send plain data, or compress the body of an INSERT and name it in Content-Encoding"
                )));
            }
            "session_id" => {
                return Err(Exception::unsupported(
                    "sessions are not served by the embedded server; send settings with each request",
                ));
            }
            // Everybody may do everything here, and buffers have sizes of their own.
            "user"
            | "password"
            | "quota_key"
            | "role"
            | "compress"
            | "decompress"
            | "buffer_size"
            | "session_timeout"
            | "session_check"
            | "close_session"
            | "client_protocol_version"
            | "stacktrace" => {}
            _ => match name.strip_prefix("param_") {
                Some(param) => self.params.push((param.to_owned(), value.to_owned())),
                None => {
                    self.context
                        .settings
                        .insert(name.to_owned(), value.to_owned());
                }
            },
        }
        Ok(())
    }
}

fn switch(value: &str) -> bool {
    matches!(value, "1" | "true")
}

fn text_header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// A format's name goes into statements, so it must be a name.
fn format_name(name: &str) -> Result<String, Exception> {
    if !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        Ok(name.to_owned())
    } else {
        Err(Exception::new(
            73,
            "UNKNOWN_FORMAT",
            &format!("Unknown format {name}"),
        ))
    }
}

/// A query id goes into a comment of the statement, so it must not end one.
fn query_id(id: &str) -> Result<String, Exception> {
    let fits = |byte: u8| {
        (byte.is_ascii_graphic() || byte == b' ') && !matches!(byte, b'*' | b'\'' | b'\\')
    };
    if id.len() <= QUERY_ID_CHARS && id.bytes().all(fits) {
        Ok(id.to_owned())
    } else {
        Err(Exception::bad_argument(&format!(
            "query_id must have at most {QUERY_ID_CHARS} printable ASCII characters and none of * ' \\"
        )))
    }
}

fn compression(headers: &HeaderMap) -> Result<Option<&'static str>, Exception> {
    let Some(encoding) = text_header(headers, header::CONTENT_ENCODING.as_str()) else {
        return Ok(None);
    };
    match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(None),
        "gzip" | "x-gzip" => Ok(Some("gzip")),
        "deflate" => Ok(Some("deflate")),
        "br" => Ok(Some("brotli")),
        "zstd" => Ok(Some("zstd")),
        "lz4" => Ok(Some("lz4")),
        "xz" => Ok(Some("xz")),
        other => Err(Exception::unsupported(&format!(
            "Content-Encoding {other} is not served; send gzip, deflate, br, zstd, lz4, xz or plain data"
        ))),
    }
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    let kind = text_header(headers, header::CONTENT_TYPE.as_str())?;
    let (media, parameters) = kind.split_once(';')?;
    if !media.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.trim().split_once('=')?;
        name.eq_ignore_ascii_case("boundary")
            .then(|| value.trim_matches('"').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, uri: &str) -> Result<Call, Exception> {
        let request = http::Request::builder()
            .method(method)
            .uri(uri)
            .header("X-ClickHouse-Format", "CSV")
            .body(());
        Call::read(&request.unwrap().into_parts().0)
    }

    #[test]
    fn what_is_no_parameter_of_the_interface_is_a_setting() {
        let call = call(
            "POST",
            "/?query=SELECT+1&database=a&user=u&param_x=%27&max_threads=2&default_format=JSON&query_id=q-1&wait_end_of_query=1",
        )
        .unwrap();
        assert_eq!(call.query, b"SELECT 1");
        assert_eq!(call.context.database, "a");
        assert_eq!(call.params, [("x".to_owned(), "'".to_owned())]);
        assert_eq!(
            call.context.settings.into_iter().collect::<Vec<_>>(),
            [("max_threads".to_owned(), "2".to_owned())]
        );
        assert_eq!(call.format.as_deref(), Some("JSON"));
        assert_eq!(call.query_id, "q-1");
        assert!(call.wait_for_end && !call.only_reads);
    }

    #[test]
    fn a_header_names_the_format_where_the_url_does_not() {
        let call = call("GET", "/?database=default").unwrap();
        assert_eq!(call.format.as_deref(), Some("CSV"));
        assert_eq!(call.context, Context::default());
        assert!(call.only_reads);
        assert_eq!(call.query_id.len(), 36);
    }

    #[test]
    fn what_is_not_served_is_refused_with_a_reason() {
        assert_eq!(call("POST", "/?compress=1").unwrap_err().code, 48);
        assert_eq!(
            call("POST", "/?compress=0").unwrap().context,
            Context::default()
        );
        assert_eq!(call("POST", "/?session_id=a").unwrap_err().code, 48);
        assert_eq!(call("POST", "/?query_id=*/").unwrap_err().code, 36);
        assert_eq!(
            call("POST", "/?default_format=CSV%20x").unwrap_err().code,
            73
        );
    }
}
