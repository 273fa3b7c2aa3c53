//! What is happening just now, on standard error.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::{Instant, interval_at};

use crate::measure::{Recorder, Sampler};
use crate::schedule::{PHASES, Schedule};
use crate::setup::REGIONS;

/// How often the display changes.
const TICK: Duration = Duration::from_millis(250);

/// One client, as it is watched.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) name: &'static str,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) sampler: Sampler,
}

/// Shows the progress of a run for as long as it is polled: a display that changes, or, where
/// standard error is no terminal, one line a phase.
pub(crate) async fn show(schedule: Schedule, start: Instant, clients: [Watched; 2]) {
    let bar = bar(schedule.total());
    let on_terminal = std::io::stderr().is_terminal();
    let mut ticks = interval_at(start, TICK);
    let mut phase = None;
    loop {
        ticks.tick().await;
        let elapsed = start.elapsed();
        let now = schedule.phase_at(elapsed);
        if !on_terminal && phase.replace(now) != Some(now) {
            let (phase, _) = PHASES[now];
            eprintln!("{:>5.1} s  {}", elapsed.as_secs_f64(), phase.description());
        }
        bar.set_position(millis(elapsed.min(schedule.total())));
        bar.set_prefix(format!(
            "{:.1} s of {:.0} s",
            elapsed.min(schedule.total()).as_secs_f64(),
            schedule.total().as_secs_f64()
        ));
        bar.set_message(message(schedule, elapsed, &clients));
    }
}

fn bar(total: Duration) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:<15} {bar:24} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(millis(total)).with_style(style)
}

fn message(schedule: Schedule, elapsed: Duration, clients: &[Watched; 2]) -> String {
    let (phase, _) = PHASES[schedule.phase_at(elapsed)];
    let mut text = if elapsed < schedule.total() {
        format!("preferred region: {}", phase.description())
    } else {
        "waiting for the last operations".to_owned()
    };
    for client in clients {
        let rate = client.recorder.recent_success_rate(elapsed);
        let rate = rate.map_or_else(
            || "    -".to_owned(),
            |rate| format!("{:5.1}", 100.0 * rate),
        );
        let _ = write!(text, "\n  {:<6} {rate} % good", client.name);
        let requests = client.sampler.last_rates();
        for (region, rate) in REGIONS.iter().zip(requests) {
            let _ = write!(text, "   {region} {rate:>4.0}/s");
        }
    }
    text
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
