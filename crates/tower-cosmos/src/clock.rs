//! One clock for everything: monotonic time is tokio's, so that tests can pause it; wall time can
//! be made to follow it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwapOption;
use cosmos_core::signing::http_date;
use http::HeaderValue;
use tokio::time::Sleep;

/// A time that the clock can hold from any instant on, and that nobody lives to see the end of.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Monotonic time now, as tokio sees it.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Waits for an instant; without one, for ever. The timer is made when there is need to wait.
pub(crate) fn poll_until(
    timer: &mut Option<Pin<Box<Sleep>>>,
    until: Option<Instant>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let Some(until) = until else {
        return Poll::Pending;
    };
    timer
        .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until.into())))
        .as_mut()
        .poll(cx)
}

/// Wall time for `x-ms-date` and signatures.
///
/// The system's clock is read afresh each time, so that a machine that slept does not sign with
/// an old date. [`Clock::starting_at`] follows tokio's time instead, paused or not.
#[derive(Clone)]
pub struct Clock(Arc<Source>);

struct Source {
    /// A wall time and the monotonic instant at which it was right; `None` for the system's.
    start: Option<(SystemTime, Instant)>,
    date: ArcSwapOption<Date>,
}

/// A date as it is sent, and the second that it stands for.
#[derive(Debug)]
pub(crate) struct Date {
    second: u64,
    pub(crate) text: String,
    pub(crate) value: HeaderValue,
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::from_start(None)
    }

    /// A clock that shows `start` now and goes on with tokio's time.
    #[must_use]
    pub fn starting_at(start: SystemTime) -> Self {
        Self::from_start(Some((start, now())))
    }

    fn from_start(start: Option<(SystemTime, Instant)>) -> Self {
        Self(Arc::new(Source {
            start,
            date: ArcSwapOption::empty(),
        }))
    }

    /// The wall time.
    #[must_use]
    pub fn wall(&self) -> SystemTime {
        match self.0.start {
            Some((wall, began)) => wall + now().saturating_duration_since(began),
            // The one place that reads the system's clock.
            #[allow(clippy::disallowed_methods)]
            None => SystemTime::now(),
        }
    }

    /// Uses the date of this second, formatted once a second.
    pub(crate) fn with_date<T>(&self, used: impl FnOnce(&Date) -> T) -> T {
        let wall = self.wall();
        let second = wall
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or(Duration::ZERO)
            .as_secs();
        if let Some(date) = &*self.0.date.load()
            && date.second == second
        {
            return used(date);
        }
        let text = http_date(wall);
        let value = HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""));
        let date = Arc::new(Date {
            second,
            text,
            value,
        });
        self.0.date.store(Some(Arc::clone(&date)));
        used(&date)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("wall", &self.wall()).finish()
    }
}
