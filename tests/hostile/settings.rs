//! Settings at the ends of their ranges: nothing panics, nothing waits when it should not.

use std::time::Duration;

use cosmos_core::policy::failover::FailoverLimits;
use cosmos_core::{FailureKind, OperationOptions, Status};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{Lab, account, always, boxed, create, ms, read, recommended, s, send, with};
use tower::Layer;
use tower_cosmos::AttemptTimeoutLayer;

#[tokio::test(start_paused = true)]
async fn a_mark_may_last_for_ever() {
    let lab = Lab::with(Document::multi_write(["A", "B"]), |account| {
        account.mark_duration(Duration::MAX)
    });
    lab.account.refresh().await;
    lab.regions.script("A", [Step::fail(FailureKind::Dns)]);
    assert!(lab.send(read()).await.status().is_success());
    tokio::time::sleep(s(3600)).await;
    assert!(lab.send(read()).await.status().is_success());
    assert_eq!(lab.wire().regions(), "A B B");
}

#[tokio::test(start_paused = true)]
async fn a_refresh_interval_may_last_for_ever() {
    let lab = Lab::with(Document::single_write(["A", "B"]), |account| {
        account
            .refresh_interval(Duration::MAX)
            .background_period(Duration::MAX)
            .read_timeout(Duration::MAX)
    });
    lab.account.refresh().await;
    // Each mark asks for a refresh; a write that is refused would wait for one.
    lab.regions.script("A", [Step::status(503, 0)]);
    assert!(lab.send(read()).await.status().is_success());
    lab.regions.script("A", always(403, 3));
    let options = OperationOptions::new().timeout(s(60));
    let status = lab.send(with(create(), options)).await.status();
    assert_eq!(status, Status::WRITE_FORBIDDEN);
    assert_eq!(lab.regions.account_reads().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_background_period_may_last_for_ever_with_jitter() {
    let lab = Lab::with(Document::single_write(["A"]), |account| {
        account
            .background_period(Duration::MAX)
            .jitter(cosmos_core::policy::Jitter::Random)
    });
    lab.account.refresh().await;
    let metrics = tokio::runtime::Handle::current().metrics();
    tokio::time::sleep(s(1)).await;
    assert_eq!(metrics.num_alive_tasks(), 1, "the background task lives");
}

#[test]
fn a_builder_shows_no_endpoint_that_nobody_has_checked() {
    let text = "AccountEndpoint=https://a.test/;AccountKey=secret==";
    let builder = tower_cosmos::Account::builder(text, cosmos_tests::credential())
        .fallback_endpoints(["https://user:secret@a.test/"]);
    assert!(!format!("{builder:?}").contains("secret"));
}

#[tokio::test]
async fn connections_may_be_kept_and_pinged_for_ever() {
    let leaf = cosmos_client::Leaf::builder()
        .idle_limit(Duration::MAX)
        .http2_pings(Duration::MAX, Duration::MAX)
        .connect_limit(Duration::MAX)
        .protocol(cosmos_client::Protocol::Http2)
        .build()
        .unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let serve = hyper::service::service_fn(|_| async {
            Ok::<_, std::convert::Infallible>(http::Response::new(String::from("{}")))
        });
        let executor = hyper_util::rt::TokioExecutor::new();
        let _ = hyper::server::conn::http2::Builder::new(executor)
            .serve_connection(hyper_util::rt::TokioIo::new(stream), serve)
            .await;
    });
    for _ in 0..3 {
        let request = http::Request::get(format!("http://{address}/"));
        let mut leaf = leaf.clone();
        let sending = tower::Service::call(
            &mut leaf,
            request.body(http_body_util::Full::default()).unwrap(),
        );
        assert_eq!(sending.await.unwrap().status(), 200);
    }
}

#[tokio::test(start_paused = true)]
async fn budgets_without_an_end_stop_at_the_journals_limit() {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B", "C"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let limits = FailoverLimits {
        failovers: u32::MAX,
        backend_failovers: u32::MAX,
        backend_wait: Duration::ZERO,
        immediate_first_retry: true,
    };
    let layers = recommended(&account)
        .failover(|layer| layer.limits(limits))
        .throttle(|layer| layer.max_retries(u32::MAX).max_total_wait(Duration::MAX))
        .reconnect(|layer| layer.max_reconnects(u32::MAX));
    let stack = boxed(layers.layer(regions.clone()));
    for step in [
        Step::status(503, 0),
        Step::status(403, 1008),
        Step::status(429, 0).hint("0"),
        Step::fail(FailureKind::Reset),
    ] {
        for region in ["A", "B", "C"] {
            regions.heal(region);
            regions.script(region, [step.clone().forever()]);
        }
        regions.clear_wire();
        let error = send(&stack, read()).await;
        assert_eq!(error.error().kind(), FailureKind::TooManyAttempts);
        assert_eq!(regions.wire().len(), 1024);
    }
}

#[tokio::test(start_paused = true)]
async fn limits_of_zero_end_an_attempt_at_once() {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let attempt = AttemptTimeoutLayer::new()
        .data(Duration::ZERO)
        .metadata(Duration::ZERO)
        .idle(Duration::ZERO);
    let layers = recommended(&account)
        .attempt(|_| attempt)
        .buffer(|layer| layer.limit(0));
    let stack = boxed(layers.layer(regions.clone()));
    regions.script("A", [Step::hang().forever()]);
    regions.script("B", [Step::status(200, 0).body("").stalling().forever()]);
    let began = tokio::time::Instant::now();
    assert!(send(&stack, read()).await.result.is_err());
    assert!(began.elapsed() < s(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_timeout_beyond_the_clock_is_none_and_one_of_zero_sends_nothing() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let endless = OperationOptions::new().timeout(Duration::MAX);
    assert!(lab.send(with(read(), endless)).await.status().is_success());
    let nothing = OperationOptions::new().timeout(Duration::ZERO);
    let status = lab.send(with(read(), nothing)).await.status();
    assert_eq!(status, Status::CLIENT_OPERATION_TIMEOUT);
    assert_eq!(lab.wire().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_throttle_hint_beyond_the_clock_waits_until_the_budget_says_no() {
    let regions = ScriptedAccount::new(Document::multi_write(["A"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let layers = recommended(&account).throttle(|layer| layer.max_total_wait(Duration::MAX));
    let stack = boxed(layers.layer(regions.clone()));
    regions.script("A", [Step::status(429, 0).hint("1e300").forever()]);
    let options = OperationOptions::new().timeout(s(9));
    let began = tokio::time::Instant::now();
    assert_eq!(
        send(&stack, with(read(), options)).await.status().code(),
        429
    );
    assert_eq!(began.elapsed(), ms(0), "the wait does not fit");
}
