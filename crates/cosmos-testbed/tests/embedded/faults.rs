//! Every kind of fault, on the wire.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::time::Duration;

use cosmos_testbed::EmbeddedAccount;
use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultedRequests, Outcome};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::client::{Ask, BOTH, BOUND, Connection, EAST, Protocol, WEST, address, at, start};

/// Long enough to tell that no answer comes.
const SILENCE: Duration = Duration::from_millis(150);

pub(crate) fn read() -> Ask {
    Ask::read("1", r#"["a"]"#)
}

pub(crate) async fn seeded() -> EmbeddedAccount {
    let account = start().await;
    let created = Ask::create("1", r#"["a"]"#)
        .to(&account, account.endpoint())
        .await;
    assert_eq!(created.code(), (201, 0), "{created:?}");
    account.reset_counts();
    account
}

#[tokio::test]
async fn a_status_is_answered_with_its_substatus_and_hint() {
    let account = seeded().await;
    let kind = FaultKind::Status {
        status: 503,
        substatus: Some(21008),
        retry_after_ms: Some(7),
    };
    let id = account
        .faults()
        .set(FaultRule::at(EAST, kind))
        .await
        .unwrap();
    for protocol in BOTH {
        let reply = read()
            .try_to(&account, &at(&account, EAST), protocol)
            .await
            .unwrap();
        assert_eq!(reply.code(), (503, 21008));
        assert_eq!(reply.headers["x-ms-retry-after-ms"], "7");
    }
    for elsewhere in [at(&account, WEST), account.endpoint().to_owned()] {
        assert_eq!(read().to(&account, &elsewhere).await.code(), (200, 0));
    }
    assert!(account.faults().clear(id).await);
    assert_eq!(
        read().to(&account, &at(&account, EAST)).await.code(),
        (200, 0)
    );
    assert_eq!(account.counts(EAST).data, 3);
}

#[tokio::test]
async fn throttling_is_429_3200_with_a_hint() {
    let account = seeded().await;
    let kind = FaultKind::Throttle { retry_after_ms: 12 };
    account
        .faults()
        .set(FaultRule::at(EAST, kind))
        .await
        .unwrap();
    let reply = read().to(&account, &at(&account, EAST)).await;
    assert_eq!(reply.code(), (429, 3200));
    assert_eq!(reply.headers["x-ms-retry-after-ms"], "12");
}

#[tokio::test]
async fn a_delay_delays_and_then_answers() {
    let account = seeded().await;
    let delay = Duration::from_millis(80);
    account
        .faults()
        .set(FaultRule::at(EAST, FaultKind::Delay(delay)))
        .await
        .unwrap();
    for protocol in BOTH {
        let before = tokio::time::Instant::now();
        let reply = read()
            .try_to(&account, &at(&account, EAST), protocol)
            .await
            .unwrap();
        assert_eq!(reply.code(), (200, 0));
        assert!(before.elapsed() >= delay);
    }
}

#[tokio::test]
async fn a_hung_request_is_counted_and_not_answered_even_after_the_fault() {
    for protocol in BOTH {
        let account = seeded().await;
        let east = at(&account, EAST);
        let id = account
            .faults()
            .set(FaultRule::at(EAST, FaultKind::Hang))
            .await
            .unwrap();
        let hung = read();
        let mut hung = Box::pin(hung.try_to(&account, &east, protocol));
        timeout(SILENCE, &mut hung).await.expect_err("an answer");
        assert_eq!(account.counts(EAST).data, 1);
        account.faults().clear(id).await;
        timeout(SILENCE, &mut hung)
            .await
            .expect_err("a late answer");
        assert_eq!(account.counts(EAST).data, 1);
        assert_eq!(
            account.wire_log().last().unwrap().outcome,
            Outcome::Fault("hang")
        );
        assert_eq!(read().to(&account, &east).await.code(), (200, 0));
    }
}

#[tokio::test]
async fn refusing_closes_port_and_connections_and_the_same_port_works_again() {
    for protocol in BOTH {
        let account = seeded().await;
        let east = at(&account, EAST);
        let mut established = Connection::open(&east, protocol).await.unwrap();
        let mut elsewhere = Connection::open(&at(&account, WEST), protocol)
            .await
            .unwrap();
        let sign = |endpoint: &str| read().sign(endpoint, protocol, account.key());
        assert_eq!(
            established.send(sign(&east)).await.unwrap().code(),
            (200, 0)
        );

        let refuse = FaultRule::at(EAST, FaultKind::RefuseConnections);
        let id = account.faults().set(refuse).await.unwrap();
        for _ in 0..5 {
            let refused = TcpStream::connect(address(&east)).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        }
        established.closed().await;
        let west = at(&account, WEST);
        assert_eq!(elsewhere.send(sign(&west)).await.unwrap().code(), (200, 0));
        let counts = account.counts(EAST);
        let counted = (counts.data, counts.connections);
        assert_eq!(counted, (1, 1), "a refused connect counts nothing");

        assert!(account.faults().clear(id).await);
        assert_eq!(at(&account, EAST), east);
        assert_eq!(
            read()
                .try_to(&account, &east, protocol)
                .await
                .unwrap()
                .code(),
            (200, 0)
        );
    }
}

#[tokio::test]
async fn refusing_ends_by_itself() {
    let account = seeded().await;
    let rule =
        FaultRule::at(EAST, FaultKind::RefuseConnections).lapse_after(Duration::from_millis(60));
    account.faults().set(rule).await.unwrap();
    let east = at(&account, EAST);
    assert!(TcpStream::connect(address(&east)).await.is_err());
    let listening = async {
        while TcpStream::connect(address(&east)).await.is_err() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(BOUND, listening)
        .await
        .expect("the port stays closed");
    assert_eq!(read().to(&account, &east).await.code(), (200, 0));
}

#[tokio::test]
async fn a_reset_comes_after_the_request_was_read() {
    for protocol in BOTH {
        let account = seeded().await;
        let rule = FaultRule::at(EAST, FaultKind::ResetAfterRequest);
        account.faults().set(rule).await.unwrap();
        let east = at(&account, EAST);
        read().try_to(&account, &east, protocol).await.unwrap_err();
        assert_eq!(account.counts(EAST).data, 1);
        let outcome = account.wire_log().pop().unwrap().outcome;
        assert_eq!(outcome, Outcome::Fault("reset_after_request"));
    }
}

#[tokio::test]
async fn a_reset_is_a_tcp_reset() {
    let account = seeded().await;
    let rule = FaultRule::at(EAST, FaultKind::ResetAfterRequest);
    account.faults().set(rule).await.unwrap();
    let error = raw(&account, EAST).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_lost_answer_leaves_the_write_done() {
    for protocol in BOTH {
        let account = seeded().await;
        let rule = FaultRule::at(EAST, FaultKind::LoseAnswer).requests(FaultedRequests::Writes);
        account.faults().set(rule).await.unwrap();
        let create = Ask::create("2", r#"["a"]"#);
        create
            .try_to(&account, &at(&account, EAST), protocol)
            .await
            .unwrap_err();
        for region in [EAST, WEST] {
            let stored = account
                .stored(region, "shop", "orders", r#"["a"]"#, "2")
                .await;
            assert_eq!(stored.unwrap().unwrap()["pk"], "a");
        }
    }
}

/// What the server sends for a signed read, byte by byte.
async fn raw(account: &EmbeddedAccount, region: &str) -> std::io::Result<String> {
    let east = at(account, region);
    let request = read().sign(&east, Protocol::Http1, account.key());
    let mut text = format!("GET {} HTTP/1.1\r\n", request.uri());
    for (name, value) in request.headers() {
        write!(text, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
    }
    text += "\r\n";
    let mut stream = TcpStream::connect(address(&east)).await?;
    stream.write_all(text.as_bytes()).await?;
    let mut answer = Vec::new();
    timeout(BOUND, stream.read_to_end(&mut answer))
        .await
        .expect("an end")?;
    Ok(String::from_utf8(answer).unwrap())
}

#[tokio::test]
async fn a_cut_body_is_announced_in_full_and_sent_by_half() {
    let account = seeded().await;
    let whole = read().to(&account, &at(&account, WEST)).await.body.len();
    account
        .faults()
        .set(FaultRule::at(EAST, FaultKind::CutBody))
        .await
        .unwrap();
    let answer = raw(&account, EAST).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("content-length: {whole}")), "{head}");
    assert_eq!(body.len(), whole / 2);
    for protocol in BOTH {
        let cut = read().try_to(&account, &at(&account, EAST), protocol).await;
        cut.expect_err("half a body taken for a whole one");
    }
}

#[tokio::test]
async fn goaway_answers_and_shuts_the_connection_down() {
    let account = seeded().await;
    let rule = FaultRule::at(EAST, FaultKind::GoAway).times(1);
    let east = at(&account, EAST);
    for protocol in BOTH {
        account.faults().set(rule.clone()).await.unwrap();
        let mut connection = Connection::open(&east, protocol).await.unwrap();
        let request = read().sign(&east, protocol, account.key());
        assert_eq!(connection.send(request).await.unwrap().code(), (200, 0));
        connection.closed().await;
        assert_eq!(
            read()
                .try_to(&account, &east, protocol)
                .await
                .unwrap()
                .code(),
            (200, 0)
        );
    }
}

#[tokio::test]
async fn goaway_lets_what_is_in_flight_finish() {
    let account = seeded().await;
    let slow = FaultRule::at(EAST, FaultKind::Delay(SILENCE)).partition_key(r#"["a"]"#);
    let goaway = FaultRule::at(EAST, FaultKind::GoAway).partition_key(r#"["b"]"#);
    account.faults().set(slow).await.unwrap();
    account.faults().set(goaway).await.unwrap();
    let east = at(&account, EAST);
    let connection = Connection::open(&east, Protocol::Http2).await.unwrap();
    let (mut first, mut second) = (connection.shared(), connection.shared());
    let sign = |ask: Ask| ask.sign(&east, Protocol::Http2, account.key());
    let slow = first.send(sign(read()));
    let goaway = async {
        // The slow one has to be in flight first.
        while account.counts(EAST).data == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        second.send(sign(Ask::read("1", r#"["b"]"#))).await
    };
    let (slow, goaway) = tokio::join!(slow, goaway);
    assert_eq!(goaway.unwrap().code(), (404, 0));
    assert_eq!(slow.unwrap().code(), (200, 0));
}

#[tokio::test]
async fn refusing_breaks_off_what_is_in_flight() {
    for protocol in BOTH {
        let account = seeded().await;
        account
            .faults()
            .set(FaultRule::at(EAST, FaultKind::Hang))
            .await
            .unwrap();
        let east = at(&account, EAST);
        let hung = read();
        let mut hung = Box::pin(hung.try_to(&account, &east, protocol));
        timeout(SILENCE, &mut hung).await.expect_err("an answer");
        let refuse = FaultRule::at(EAST, FaultKind::RefuseConnections);
        account.faults().set(refuse).await.unwrap();
        hung.await.expect_err("an answer");
    }
}
