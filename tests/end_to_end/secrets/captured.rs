//! What a thread logs.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::Dispatch;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};

/// What this thread logs, until it is dropped.
pub(crate) struct Captured {
    written: Written,
    // Dropped before the second one.
    _guard: DefaultGuard,
    _second: Dispatch,
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// Captures at this level all but what the embedded account's emulator says.
    pub(crate) fn at(level: LevelFilter) -> Self {
        let written = Written::default();
        let targets = Targets::new()
            .with_default(level)
            .with_target("azure_core", LevelFilter::OFF)
            .with_target("azure_data_cosmos_driver", LevelFilter::OFF);
        let lines = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(written.clone())
            .with_filter(targets);
        let subscriber = tracing_subscriber::registry().with(lines);
        // While there is one subscriber alone, tracing asks that of the thread which comes to an
        // event first; a thread without any would turn the event off for all.
        let second = Dispatch::new(NoSubscriber::default());
        let guard = tracing::subscriber::set_default(subscriber);
        tracing::callsite::rebuild_interest_cache();
        Self {
            written,
            _guard: guard,
            _second: second,
        }
    }

    /// What was logged since the last time.
    pub(crate) fn text(&self) -> String {
        let bytes = std::mem::take(&mut *self.written.0.lock());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Written {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
