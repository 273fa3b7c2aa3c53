//! One span per operation, one event per attempt and per decision, and no secret in any.

use std::io::Write;
use std::sync::Arc;

use cosmos_core::OperationOptions;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{KEY, Lab, create, s, with};
use parking_lot::Mutex;
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_is_one_span_with_an_event_for_each_attempt_and_decision() {
    let captured = Captured::default();
    let writer = captured.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(FmtSpan::NEW)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.regions
        .script("A", [Step::status(429, 0).hint("5"), Step::status(503, 0)]);
    let mut request = with(create(), OperationOptions::new().timeout(s(5)));
    *request.body_mut() = "{\"id\":\"1\",\"text\":\"a secret document\"}".into();
    let seen = lab.send(request).await;
    drop(guard);
    assert_eq!(lab.wire().regions(), "A A B");
    let log = String::from_utf8(captured.0.lock().clone()).unwrap();
    let count = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    assert_eq!(
        count(
            "cosmos.operation{cosmos.action=Create cosmos.resource=Item}: tower_cosmos::scope: new"
        ),
        1,
        "{log}"
    );
    assert_eq!(count(": attempt "), 3, "{log}");
    assert_eq!(count(": retry "), 2, "{log}");
    for field in [
        "cosmos.region=\"a\"",
        "cosmos.reason=\"throttle\"",
        "cosmos.wait=5ms",
    ] {
        assert!(count(field) > 0, "{field}\n{log}");
    }
    let signature = lab.wire().0[0].header("authorization").to_owned();
    let journal = seen.journal.unwrap();
    let texts = format!("{log}{:?}{:?}{journal:?}{journal}", lab.account, lab.stack);
    for secret in [KEY, &signature, "sig%3D", "a secret document"] {
        assert!(
            !secret.is_empty() && !texts.contains(secret),
            "{secret} in\n{texts}"
        );
    }
}
