//! Statements, parameters, settings, formats and errors.

use serde_json::Value;
use tempfile::tempdir;

use crate::server::Server;

#[tokio::test]
async fn a_statement_may_stand_in_the_url_in_the_body_or_in_both() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let get = |path: &str| server.http.get(format!("{}{path}", server.url));
    for path in ["/ping", "/"] {
        assert_eq!(
            get(path).send().await.unwrap().text().await.unwrap(),
            "Ok.\n"
        );
    }
    let (status, _, text) = server.outcome(get("/?query=SELECT+1%2B1")).await;
    assert_eq!((status, text.as_str()), (200, "2\n"));
    assert_eq!(server.ask("SELECT 'body'").await, "body");
    let both = server.post(&[("query", "SELECT 1,")], "2");
    assert_eq!(server.outcome(both).await.2, "1\t2\n");
    let (status, code, _) = server
        .outcome(get("/?query=CREATE+TABLE+t+(a+UInt8)+ENGINE=Memory"))
        .await;
    assert_eq!((status, code.as_str()), (500, "164"));
    assert_eq!(get("/nowhere").send().await.unwrap().status(), 404);
    assert_eq!(server.post(&[], "").send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn parameters_settings_and_database_hold_for_one_request() {
    let folder = tempdir().unwrap();
    let server = Server::with(folder.path(), |config| config.connections = 1);
    let values = [
        ("param_x", "41"),
        ("param_s", "it's \\t\\n"),
        ("param_a", "['a','b']"),
    ];
    let request = server.post(
        &values,
        "SELECT {x:UInt64} + 1, {s:String} = 'it\\'s \\t\\n', {a:Array(String)}",
    );
    assert_eq!(server.outcome(request).await.2, "42\t1\t['a','b']\n");

    server.ask("CREATE DATABASE other").await;
    let ask = "SELECT getSetting('max_threads') = 3, getSetting('log_comment'), currentDatabase()";
    let settings = [
        ("max_threads", "3"),
        ("log_comment", "it's"),
        ("database", "other"),
    ];
    assert_eq!(
        server.outcome(server.post(&settings, ask)).await.2,
        "1\tit\\'s\tother\n"
    );
    server.ask("SET log_comment = 'left behind'").await;
    assert_eq!(server.ask(ask).await, "0\t\tdefault");

    let (status, code, text) = server
        .outcome(server.post(&[("no_such_setting", "1")], "SELECT 1"))
        .await;
    assert_eq!((status, code.as_str()), (404, "115"));
    assert!(text.contains("no_such_setting"), "{text}");
    let (status, code, _) = server
        .outcome(server.post(&[("database", "nowhere")], "SELECT 1"))
        .await;
    assert_eq!((status, code.as_str()), (404, "81"));
    let (_, code, _) = server
        .outcome(server.post(
            &[("readonly", "1")],
            "CREATE TABLE x (a UInt8) ENGINE = Memory",
        ))
        .await;
    assert_eq!(code, "164");
    server.ask("CREATE TABLE x (a UInt8) ENGINE = Memory").await;

    let typed: String = server
        .client()
        .query("SELECT concat({a:String}, toString({b:Int32}))")
        .param("a", "x'\r\n\t")
        .param("b", -7)
        .fetch_one()
        .await
        .unwrap();
    assert_eq!(typed, "x'\r\n\t-7");
}

#[tokio::test]
async fn errors_have_clickhouse_s_status_code_and_text() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    for (statement, status, code, name) in [
        ("SELECT * FROM nope", 404, "60", "UNKNOWN_TABLE"),
        (
            "SELECT * FROM nope FORMAT RowBinary",
            404,
            "60",
            "UNKNOWN_TABLE",
        ),
        ("SELEC 1", 400, "62", "SYNTAX_ERROR"),
        ("SELECT 1; SELECT 2", 400, "62", "SYNTAX_ERROR"),
        ("SELECT nope", 404, "47", "UNKNOWN_IDENTIFIER"),
        ("SELECT 1 FORMAT Nope", 404, "73", "UNKNOWN_FORMAT"),
        (
            "INSERT INTO nope FORMAT TSV\n1\n",
            404,
            "60",
            "UNKNOWN_TABLE",
        ),
        (
            "SELECT 1 INTO OUTFILE '/tmp/x'",
            501,
            "48",
            "NOT_IMPLEMENTED",
        ),
        (
            "SELECT throwIf(1)",
            500,
            "395",
            "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO",
        ),
        (
            "SELECT sleepEachRow(3) FROM numbers(9) SETTINGS max_execution_time = 0.1, max_block_size = 1",
            408,
            "159",
            "TIMEOUT_EXCEEDED",
        ),
    ] {
        let (got, number, text) = server.outcome(server.post(&[], statement)).await;
        assert_eq!(
            (got, number.as_str()),
            (status, code),
            "{statement}: {text}"
        );
        assert!(
            text.starts_with(&format!("Code: {code}. DB::Exception: ")),
            "{text}"
        );
        assert!(
            text.contains(&format!("({name})")) && text.contains("(version "),
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_official_crate_reads_the_error() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let refused = server
        .client()
        .query("SELECT nope")
        .fetch_one::<u8>()
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("Code: 47"), "{refused}");
}

#[tokio::test]
async fn every_format_has_one_beginning_and_one_end() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let many = "SELECT number FROM numbers(200000)";
    let ask = |format: &str| server.post(&[("default_format", format)], many).send();

    let json = ask("JSON").await.unwrap();
    assert_eq!(
        json.headers()["content-type"],
        "application/json; charset=UTF-8"
    );
    assert_eq!(json.headers()["x-clickhouse-format"], "JSON");
    let json: Value = serde_json::from_str(&json.text().await.unwrap()).unwrap();
    assert_eq!(
        (json["rows"].as_u64(), json["data"].as_array().map(Vec::len)),
        (Some(200_000), Some(200_000))
    );

    let lines = ask("CSVWithNames").await.unwrap().text().await.unwrap();
    assert_eq!(
        lines.lines().filter(|line| *line == "\"number\"").count(),
        1
    );
    assert_eq!(lines.lines().count(), 200_001);

    let named = ask("RowBinaryWithNamesAndTypes")
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap();
    assert_eq!(named.len(), 200_000 * 8 + b"\x01\x06number\x06UInt64".len());
    let parquet = ask("Parquet").await.unwrap().bytes().await.unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));

    let explained = server.ask("EXPLAIN SELECT 1").await;
    assert!(explained.contains("ReadFromSystemOne"), "{explained}");
    assert_eq!(
        server
            .ask("DESCRIBE TABLE (SELECT 1 AS a) FORMAT TSV")
            .await
            .split('\t')
            .next(),
        Some("a")
    );
    let totals = server
        .ask("SELECT number % 2 AS k, count() FROM numbers(10) GROUP BY k WITH TOTALS ORDER BY k")
        .await;
    assert_eq!(totals, "0\t5\n1\t5\n\n0\t10");
}

#[tokio::test]
async fn native_blocks_go_out_and_come_back_in() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let columns = "(a UInt64, s LowCardinality(String), m Map(LowCardinality(String), String), x Nullable(Float64))";
    for table in ["one", "two"] {
        server
            .ask(&format!(
                "CREATE TABLE {table} {columns} ENGINE = MergeTree ORDER BY a"
            ))
            .await;
    }
    server
        .ask("INSERT INTO one SELECT number, toString(number % 7), map('k', toString(number)), if(number % 3 = 0, NULL, number / 3) FROM numbers(300000)")
        .await;
    let blocks = server
        .post(&[], "SELECT * FROM one FORMAT Native")
        .send()
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap();
    let back = server.post(&[("query", "INSERT INTO two FORMAT Native")], blocks);
    assert_eq!(server.outcome(back).await.0, 200);
    let sums = |table: &str| format!("SELECT count(), sum(cityHash64(*)) FROM {table}");
    assert_eq!(
        server.ask(&sums("one")).await,
        server.ask(&sums("two")).await
    );
}

#[tokio::test]
async fn what_is_not_served_says_so() {
    let folder = tempdir().unwrap();
    let server = Server::with(folder.path(), |config| {
        config.max_body = bytesize::ByteSize::b(1000)
    });
    for parameter in ["compress", "decompress", "session_id"] {
        let (status, code, text) = server
            .outcome(server.post(&[(parameter, "1")], "SELECT 1"))
            .await;
        assert_eq!((status, code.as_str()), (501, "48"), "{text}");
    }
    let (status, code, text) = server.outcome(server.post(&[], " ".repeat(1001))).await;
    assert_eq!((status, code.as_str()), (413, "229"), "{text}");
    let late = server.post(
        &[("wait_end_of_query", "1")],
        "SELECT number FROM numbers(10000)",
    );
    assert_eq!(server.outcome(late).await.1, "396");
    let credentials = server
        .post(&[("user", "u"), ("password", "p")], "SELECT 1")
        .header("X-ClickHouse-Key", "k");
    assert_eq!(server.outcome(credentials).await.2, "1\n");
}
