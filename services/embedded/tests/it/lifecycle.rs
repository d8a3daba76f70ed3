//! Restarts, crashes, locks and stopping.

use tempfile::tempdir;

use crate::server::Server;

#[tokio::test]
async fn tables_and_rows_survive_a_restart_and_a_kill() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    server.ask("CREATE DATABASE kept").await;
    server
        .ask("CREATE TABLE kept.t (a UInt64) ENGINE = MergeTree ORDER BY a")
        .await;
    server
        .ask("INSERT INTO kept.t SELECT number FROM numbers(1000)")
        .await;
    assert!(server.terminate().await, "it did not stop cleanly");

    let server = Server::start(folder.path());
    assert_eq!(
        server.ask("SELECT count(), sum(a) FROM kept.t").await,
        "1000\t499500"
    );
    server.ask("INSERT INTO kept.t FORMAT TSV\n500\n").await;
    server.kill();

    let server = Server::start(folder.path());
    assert_eq!(
        server.ask("SELECT count(), sum(a) FROM kept.t").await,
        "1001\t500000"
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_engine_never_sees_the_standard_input_of_its_process() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let input = std::fs::read_link(format!("/proc/{}/fd/0", server.id())).unwrap();
    assert_eq!(input, std::path::Path::new("/dev/null"));
}

#[tokio::test]
async fn a_folder_is_free_when_its_engine_is_gone_and_not_before() {
    let folder = tempdir().unwrap();
    let mut server = Server::start(folder.path());
    for _ in 0..4 {
        server.tell_to_stop();
        embedded::until_free(folder.path(), std::time::Duration::from_secs(60)).await;
        let next = Server::start(folder.path());
        assert_eq!(next.ask("SELECT 1").await, "1");
        server = next;
    }
}

#[tokio::test]
async fn a_second_process_on_a_folder_is_refused_by_name() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let second = Server::refused(folder.path(), |_| {});
    assert_eq!(second.status.code(), Some(1));
    let reason = String::from_utf8(second.stderr).unwrap();
    let path = folder.path().canonicalize().unwrap();
    assert!(reason.contains(path.to_str().unwrap()), "{reason}");
    assert!(
        reason.contains(&format!("process {};", server.id())),
        "{reason}"
    );
    assert_eq!(server.ask("SELECT 1").await, "1");
}

#[tokio::test]
async fn a_server_that_cannot_start_says_what_to_do() {
    let folder = tempdir().unwrap();
    let stderr = |output: std::process::Output| String::from_utf8(output.stderr).unwrap();
    let open = Server::refused(folder.path(), |config| {
        config.listen = "0.0.0.0:0".parse().unwrap()
    });
    assert!(stderr(open).contains("0.0.0.0:0 can be reached from other machines"));
    let missing = Server::refused(folder.path(), |config| {
        config.engine = Some("/nowhere/libchdb.so".into())
    });
    assert!(stderr(missing).contains("run deploy/engine"));
    let broken = folder.path().join("libchdb.so");
    std::fs::write(&broken, "not a library").unwrap();
    let broken = Server::refused(folder.path(), |config| config.engine = Some(broken));
    assert!(stderr(broken).contains("cannot load the ClickHouse library"));
}

#[tokio::test]
async fn it_stops_in_time_while_statements_run() {
    let folder = tempdir().unwrap();
    let server = Server::start(folder.path());
    let forever = "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))";
    let running = "SELECT count() > 2 FROM system.processes WHERE query LIKE '%sipHash64%'";
    let asked = [(); 3].map(|()| server.post(&[], forever).send());
    let stop = async {
        server.wait_for(running, "1").await;
        // The promise is five seconds; the machine may be busy.
        let ended =
            tokio::time::timeout(std::time::Duration::from_secs(30), server.terminate()).await;
        assert!(ended.expect("it did not stop"), "it did not stop cleanly");
    };
    let (answers, ()) = tokio::join!(futures::future::join_all(asked), stop);
    for answer in answers.into_iter().flatten() {
        assert_eq!(answer.status(), 500);
        assert_eq!(answer.headers()["x-clickhouse-exception-code"], "394");
    }
}
