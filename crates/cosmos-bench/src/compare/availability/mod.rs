//! Availability: what callers see while the preferred region misbehaves.
//!
//! That a stack is fast says nothing of what it is for. Here the same load goes through the stack, the
//! Azure SDK and two clients that one would write first, while the region that they prefer fails in
//! each of ten ways. Every client has a process and an account of its own, real sockets, and the
//! settings that it comes with but for one deadline.
//!
//! One fault is measured at a time, all clients side by side. How they come back, which takes the marks
//! and circuits of some a minute and more, is watched with little load, beside the next faults.

mod cell;
mod child;
mod clients;
mod fault;
mod goals;
mod load;
mod scene;
mod wire;

pub use cell::run as suffer;
pub use clients::Peer;
use cosmos_core::BoxError;
pub use fault::Fault;
use tokio::runtime::Builder;

use self::cell::Measured;
use self::child::Running;
use crate::{Report, Section};

const TITLE: &str = "Availability under the testbed's faults";
const NOTE: &str = "10 s each in the preferred region of three, all of which write; 16 loops, 1 write in 10, 10 s deadline, HTTP/2 in cleartext.
  Of operations that overlap the fault; later: failed after it. move: from its beginning until 99 % of what it affects goes elsewhere;
  back: from its end until the region has 99 % again for a second; -: not within the fault, not within 80 s. req/op: all requests read";
const REFERENCE: &str = "azure_data_cosmos 1.1.0-beta.1 elsewhere, 16 loops: hang: 0 failed, slowest 6.0 s; refused, reset, 503, 410, 404/1002, 403/1008: 0 failed, slowest below 0.1 s; 429/3092: 0 failed, slowest 9.9 s; body cut: 1 failed; 403/3 on writes: 35,000 failed";
const COLUMNS: &[&str] = &[
    "ops",
    "failed",
    "slowest ms",
    "p99 ms",
    "req/op",
    "move ms",
    "back s",
    "later",
];

/// Every fault, every client.
///
/// # Errors
/// If a client cannot use its account even while that is well, or a process does not do what it should.
pub(super) fn section(goals: &mut Report) -> Result<Section, BoxError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let rows = runtime.block_on(measured())?;
    let mut section = Section::new(TITLE, NOTE, COLUMNS);
    goals.compare_with(REFERENCE);
    for (fault, row) in rows {
        let missed = goals::add(goals, fault, &row);
        for (peer, measured) in row {
            let name = format!("{}: {}", fault.name(), peer.name());
            if let Some(failures) = failures(&measured) {
                section.remark(format!("{name}: {failures}"));
            }
            if missed && peer == Peer::Stack {
                section.remark(format!("{name}: {}", measured.example));
            }
            section.add(name, figures(&measured));
        }
    }
    Ok(section)
}

type Row = (Fault, Vec<(Peer, Measured)>);

async fn measured() -> Result<Vec<Row>, BoxError> {
    let mut under_way = Vec::new();
    for fault in Fault::ALL {
        eprintln!("availability: {}", fault.name());
        let running = Peer::all().map(|peer| Running::start(fault, peer));
        let mut running = running.collect::<Result<Vec<_>, _>>()?;
        for child in &mut running {
            child.until_over().await?;
        }
        under_way.push((fault, running));
    }
    eprintln!("availability: waiting for the last to come back");
    let mut rows = Vec::new();
    for (fault, running) in under_way {
        let mut row = Vec::new();
        for mut child in running {
            row.push((child.peer, child.measured().await?));
        }
        rows.push((fault, row));
    }
    Ok(rows)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn figures(measured: &Measured) -> [Option<f64>; 8] {
    [
        Some(measured.operations as f64),
        Some(measured.failed as f64),
        Some(measured.slowest_ms),
        Some(measured.p99_ms),
        Some(measured.requests_each),
        measured.move_ms,
        measured.back_s,
        Some(measured.failed_later as f64),
    ]
}

/// Why operations failed, the most frequent first.
fn failures(measured: &Measured) -> Option<String> {
    let mut failures: Vec<_> = measured.failures.iter().collect();
    failures.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let told = failures.iter().take(3);
    let told: Vec<_> = told
        .map(|(why, count)| format!("{count} x {why}"))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}
