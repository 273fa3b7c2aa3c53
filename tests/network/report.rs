//! What the callers saw of a simulation, and what may be asked of it.

use std::fmt::Write as _;
use std::time::Duration;

use crate::run::{EAST, Plan};

/// An operation, as its caller saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// Since the traffic began.
    pub(crate) began: Duration,
    pub(crate) took: Duration,
    pub(crate) caller: usize,
    pub(crate) kind: &'static str,
    /// The status; `None`: an error.
    pub(crate) status: Option<(u16, u32)>,
    /// Whether an attempt was sent and never answered.
    pub(crate) loose_ends: bool,
    /// The attempts: where, and how they ended.
    pub(crate) attempts: Vec<(&'static str, String)>,
}

impl Done {
    pub(crate) fn succeeded(&self) -> bool {
        self.status.is_some_and(|(status, _)| status < 300)
    }

    /// It succeeded, or was told that an attempt of its own had done so before.
    pub(crate) fn served(&self) -> bool {
        let repeated = matches!(self.status, Some((409 | 412, _) | (404, 0)));
        self.succeeded() || (repeated && self.loose_ends && !self.is_read())
    }

    /// A region that answered did not know what the session had written; the one that does may not
    /// answer before the deadline.
    pub(crate) fn is_behind(&self) -> bool {
        let behind = |(_, how): &(&str, String)| how == "Answered(404/1002)";
        let unknown = matches!(self.status, Some((404 | 412, _)));
        self.attempts.iter().any(behind) || (unknown && !self.is_read())
    }

    pub(crate) fn is_read(&self) -> bool {
        matches!(self.kind, "read" | "query")
    }

    /// Whether it took one attempt, at this host.
    pub(crate) fn is_at(&self, host: &str) -> bool {
        matches!(&self.attempts[..], [(only, _)] if *only == host)
    }

    /// Whether its first attempt was at this host, and ended like this.
    pub(crate) fn is_at_first(&self, host: &str, outcome: &str) -> bool {
        matches!(&self.attempts[..], [(first, how), ..] if *first == host && how == outcome)
    }
}

/// What a simulation has shown.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) plan: Plan,
    pub(crate) done: Vec<Done>,
}

impl Report {
    /// The operations that began while something was wrong.
    pub(crate) fn during(&self) -> impl Iterator<Item = &Done> {
        let begin = self.plan.events.iter().map(|event| event.from).min();
        let during = begin.unwrap_or_default()..self.plan.healed();
        self.done
            .iter()
            .filter(move |done| during.contains(&done.began))
    }

    /// Every operation of these was served.
    pub(crate) fn served(&self, what: &str, of: impl Fn(&Done) -> bool) {
        self.all(what, of, Done::served);
    }

    /// Every operation of these was served, or told that what its session wrote is elsewhere.
    pub(crate) fn served_or_behind(&self, what: &str, of: impl Fn(&Done) -> bool) {
        self.all(what, of, |done| done.served() || done.is_behind());
    }

    fn all(&self, what: &str, of: impl Fn(&Done) -> bool, good: impl Fn(&Done) -> bool) {
        let mut some = false;
        for done in self.done.iter().filter(|done| of(done)) {
            assert!(good(done), "{what}: {done:?}\n{}", self.story());
            some = true;
        }
        assert!(some, "{what}: nothing was sent\n{}", self.story());
    }

    /// There were operations like these while something was wrong.
    pub(crate) fn some(&self, what: &str, like: impl Fn(&Done) -> bool) {
        let there = self.during().any(like);
        assert!(there, "no {what}\n{}", self.story());
    }

    /// While something was wrong, traffic went to this region at once, having learned to.
    pub(crate) fn moved_to(&self, host: &str) {
        let there = self.during().filter(|done| done.is_at(host));
        assert!(there.count() > 9, "not at {host}\n{}", self.story());
    }

    /// All the time, every operation took one attempt, at home.
    pub(crate) fn stayed(&self, what: &str) {
        for done in &self.done {
            assert!(self.is_home(done), "{what}: {done:?}\n{}", self.story());
        }
    }

    /// Traffic is where it belongs again, at once and at the first attempt.
    pub(crate) fn came_back(&self) {
        let back = self.plan.back();
        let mut count = 0;
        for done in self.done.iter().filter(|done| done.began >= back) {
            let is_back = done.succeeded() && self.is_home(done);
            assert!(is_back, "not back: {done:?}\n{}", self.story());
            count += 1;
        }
        assert!(
            count > 9 * self.plan.callers,
            "only {count} afterwards\n{}",
            self.story()
        );
    }

    fn is_home(&self, done: &Done) -> bool {
        let to_hub = !done.is_read() && !self.plan.multi_write;
        let home = if to_hub { EAST } else { self.plan.preferred[0] };
        // A region that has not heard of a write yet says so to the session that made it.
        let lags = done.is_at_first(home, "Answered(404/1002)") && done.attempts.len() == 2;
        done.is_at(home) || (lags && !self.plan.multi_write && home != EAST)
    }

    /// Everything, for a failing test to print.
    pub(crate) fn story(&self) -> String {
        let mut story = format!("{:?}\n", self.plan);
        for done in &self.done {
            let _ = writeln!(story, "{done:?}");
        }
        story
    }
}
