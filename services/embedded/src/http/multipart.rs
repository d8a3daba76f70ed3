//! A multipart/form-data body → its fields.

/// Name and value of each field.
pub(super) type Fields = Vec<(String, Vec<u8>)>;

/// Reads the fields; nothing when the body is not well-formed or a part has a file name (an external
/// table, which is not served here).
pub(super) fn fields(body: &[u8], boundary: &str) -> Option<Fields> {
    let first = format!("--{boundary}");
    let between = format!("\r\n--{boundary}");
    let mut rest = body
        .strip_prefix(b"\r\n")
        .unwrap_or(body)
        .strip_prefix(first.as_bytes())?;
    let mut fields = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Some(fields);
        }
        let part = rest.strip_prefix(b"\r\n")?;
        let head_end = memchr::memmem::find(part, b"\r\n\r\n")?;
        let (head, value) = part.split_at(head_end);
        let value = value.get(4..)?;
        let value_end = memchr::memmem::find(value, between.as_bytes())?;
        let (value, after) = value.split_at(value_end);
        fields.push((name(head)?, value.to_vec()));
        rest = after.get(between.len()..)?;
    }
}

/// The field's name in a part's head.
fn name(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let disposition = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(header, _)| header.trim().eq_ignore_ascii_case("content-disposition"))?
        .1;
    let mut name = None;
    for parameter in disposition.split(';') {
        match parameter.trim().split_once('=') {
            Some(("name", value)) => name = Some(value.trim_matches('"').to_owned()),
            Some(("filename", _)) => return None,
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_line_ends() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"query\"\r\n\r\nSELECT\r\n{a:String}\r\n\
            --x\r\nContent-Disposition: form-data; name=\"param_a\"\r\n\r\n\r\n--x--\r\n";
        assert_eq!(
            fields(body, "x").unwrap(),
            [
                ("query".to_owned(), b"SELECT\r\n{a:String}".to_vec()),
                ("param_a".to_owned(), Vec::new())
            ]
        );
    }

    #[test]
    fn files_and_broken_bodies_are_refused() {
        let file = b"--x\r\nContent-Disposition: form-data; name=\"t\"; filename=\"t.csv\"\r\n\r\n1\r\n--x--";
        assert_eq!(fields(file, "x"), None);
        assert_eq!(
            fields(
                b"--x\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\n1",
                "x"
            ),
            None
        );
        assert_eq!(fields(b"", "x"), None);
    }
}
