//! One case: a stack, a scenario and a kind of operation, and the rules that must hold.

use std::fmt::Write as _;
use std::time::Duration;

use cosmos_core::{BoxError, Journal, JournalSlot, OperationOptions, headers};
use cosmos_testbed::scripted::{Wire, WireEntry};
use cosmos_tests::kinds::Kind;
use cosmos_tests::rules::{self, Check, require};
use cosmos_tests::{Req, Res, Stack, account, ms, s};
use http::HeaderValue;
use tokio::time::Instant;
use tower::ServiceExt;

use crate::cost::Cost;
use crate::scenario::{Call, Limit, NAMES, Operation, Scenario};
use crate::stack::{Foreign, Order, Over};

/// The header that tells operations apart on the wire.
const NUMBER: &str = "x-test-operation";

/// What became of an operation.
struct Done {
    number: usize,
    /// `None`: its caller left.
    result: Option<Result<Res, BoxError>>,
    journal: Option<Journal>,
    began: Instant,
    ended: Instant,
}

/// What was seen of a case.
pub(crate) struct Seen {
    pub(crate) cost: Cost,
    /// The regions, in order.
    pub(crate) wire: String,
}

fn request(
    timeout: Option<Duration>,
    scenario: &Scenario,
    operation: Operation,
    number: usize,
    slot: &JournalSlot,
) -> Req {
    let mut request = operation.request();
    let token = HeaderValue::from_static("0:1#7");
    request.headers_mut().insert(headers::SESSION_TOKEN, token);
    request.headers_mut().insert(NUMBER, number.into());
    let mut options = OperationOptions::new()
        .partition_key_range("0")
        .exclude_regions(scenario.excluded)
        .unwrap()
        .journal_slot(slot);
    if let Some(timeout) = timeout {
        options = options.timeout(timeout);
    }
    request.extensions_mut().insert(options);
    request
}

async fn perform(
    stack: &Stack,
    request: Req,
    slot: JournalSlot,
    call: Call,
    number: usize,
) -> Done {
    let began = Instant::now();
    let sending = stack.clone().oneshot(request);
    let result = match call.leaves {
        Some(after) => tokio::time::timeout(after, sending).await.ok(),
        None => Some(sending.await),
    };
    Done {
        number,
        result,
        journal: slot.journal(),
        began,
        ended: Instant::now(),
    }
}

/// Plays a case.
///
/// # Errors
/// Which rule was broken, with the order, the scenario, the wire and the journals.
pub(crate) async fn play(
    order: &Order,
    scenario: &Scenario,
    operation: Operation,
) -> Result<Seen, String> {
    let start = Instant::now();
    let regions = scenario.account.regions();
    let account = account(&regions, |account| account.preferred_regions(NAMES));
    account.refresh().await;
    (scenario.script)(&regions);
    // What no layer says, the caller does.
    let mut by_layer = None;
    let mut by_caller = None;
    match scenario.limit {
        Some(Limit::Layer(timeout)) if order.has(Over::Ours(Kind::Deadline)) => {
            by_layer = Some(timeout);
        }
        Some(Limit::Caller(timeout) | Limit::Layer(timeout)) => by_caller = Some(timeout),
        None => {}
    }
    let stack = order.build(&account, &regions, by_layer);
    let mut done: Vec<Done> = Vec::new();
    for call in &scenario.calls {
        tokio::time::sleep(call.after).await;
        let together = (0..call.count).map(|index| {
            let number = done.len() + index;
            let slot = JournalSlot::new();
            let request = request(by_caller, scenario, operation, number, &slot);
            perform(&stack, request, slot, *call, number)
        });
        done.extend(futures::future::join_all(together).await);
    }
    // Longer than any wait between two attempts.
    tokio::time::sleep(s(31)).await;
    let wire = regions.wire();
    let case = Case {
        order,
        scenario,
        operation,
        start,
    };
    let mut checked = case.check(&wire, &done);
    if checked.is_ok() && regions.open() != 0 {
        checked = Err(format!("{} requests are left open", regions.open()));
    }
    drop((stack, account));
    // What ran for the stack sees that it is gone.
    tokio::time::sleep(ms(1)).await;
    let tasks = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    if checked.is_ok() && tasks != 0 {
        checked = Err(format!("{tasks} tasks are left"));
    }
    checked.map_err(|problem| case.report(&problem, &wire, &done))?;
    Ok(Seen {
        cost: cost(&wire, &done),
        wire: wire.regions(),
    })
}

fn cost(wire: &Wire, done: &[Done]) -> Cost {
    let failed = |done: &&Done| {
        let succeeded = |result: &Result<Res, BoxError>| matches!(result, Ok(response) if response.status().is_success());
        // A caller who left does not count.
        done.result
            .as_ref()
            .is_some_and(|result| !succeeded(result))
    };
    let away = |entry: &&WireEntry| entry.region != wire.0[0].region;
    let time: Duration = done.iter().map(|done| done.ended - done.began).sum();
    Cost {
        failed: done.iter().filter(failed).count().try_into().unwrap(),
        requests: wire.len().try_into().unwrap(),
        away: wire.0.iter().filter(away).count().try_into().unwrap(),
        milliseconds: time.as_millis().try_into().unwrap(),
    }
}

struct Case<'a> {
    order: &'a Order,
    scenario: &'a Scenario,
    operation: Operation,
    start: Instant,
}

impl Case<'_> {
    fn report(&self, problem: &str, wire: &Wire, done: &[Done]) -> String {
        let mut text = format!(
            "{problem}\norder: {:?}\nscenario: {}, {}\n{wire}",
            self.order.0,
            self.scenario.name,
            self.operation.name(),
        );
        for done in done {
            let journal = done.journal.as_ref().map(ToString::to_string);
            let _ = writeln!(
                text,
                "operation {}: {:?} after {:?}\n{}",
                done.number,
                done.result,
                done.ended - done.began,
                journal.unwrap_or_default()
            );
        }
        text
    }

    fn check(&self, wire: &Wire, done: &[Done]) -> Check {
        require(wire.count("global") == 0, || {
            "data at the global endpoint".into()
        })?;
        let everywhere = self.scenario.excluded.len() == NAMES.len();
        for name in self.scenario.excluded {
            // The hub is the only candidate for writes.
            let only = everywhere || self.scenario.exactly == Some(*name);
            require(only || wire.count(name) == 0, || {
                format!("{name} is excluded and saw a request")
            })?;
        }
        if let Some(exactly) = self.scenario.exactly
            && self.order.is_complete()
        {
            require(wire.regions() == exactly, || {
                format!("{} instead of {exactly}", wire.regions())
            })?;
        }
        let mut attempts = Vec::new();
        for done in done {
            let number = done.number.to_string();
            let mine = wire.0.iter().filter(|entry| entry.header(NUMBER) == number);
            self.check_operation(done, &mine.collect::<Vec<_>>())?;
            attempts.extend(done.journal.iter().flat_map(Journal::attempts));
        }
        rules::probes(&attempts)
    }

    fn check_operation(&self, done: &Done, wire: &[&WireEntry]) -> Check {
        rules::replays_each(wire)?;
        let Some(journal) = &done.journal else {
            return Err("no journal".into());
        };
        // A retry outside of ours begins a new operation each time: the journal is the last one's.
        let begins_anew = matches!(self.order.0.first(), Some(Over::Foreign(Foreign::Retry)));
        let attempts = journal.attempts();
        let wire = match wire.len().checked_sub(attempts.len()) {
            Some(earlier) if begins_anew => &wire[earlier..],
            _ => wire,
        };
        let ended = done.ended - self.start;
        require(wire.iter().all(|entry| entry.at <= ended), || {
            "sent after its end".into()
        })?;
        require(wire.len() == attempts.len(), || {
            "the journal is not what the wire saw".into()
        })?;
        for (entry, attempt) in wire.iter().zip(&attempts) {
            let same = attempt.region.name().eq_ignore_ascii_case(&entry.region)
                && attempt.began == (self.start + entry.at).into_std();
            require(same, || "an attempt is not what the wire saw".into())?;
        }
        self.count(wire.len())?;
        rules::budgets(journal, &attempts, &NAMES)?;
        rules::sent_in_time(journal, wire, self.start)?;
        rules::attempts_end_in_time(journal, &attempts)?;
        if self.operation == Operation::Execute {
            rules::procedure(&attempts)?;
        }
        rules::answer(done.result.as_ref(), &attempts)?;
        self.ends(done, journal)
    }

    fn count(&self, sent: usize) -> Check {
        let foreign = self.order.foreign();
        // Each of our tries may become three.
        let times = if foreign == Some(Foreign::Retry) {
            3
        } else {
            1
        };
        let in_all = (1 + 3 + 120 + NAMES.len() + (9 + 1) * NAMES.len()) * times;
        let most = in_all.min(self.scenario.most * times);
        require(sent <= most, || format!("{sent} requests, {most} at most"))
    }

    /// It ends by its deadline, and as soon as there is nothing more to try.
    fn ends(&self, done: &Done, journal: &Journal) -> Check {
        let ended = done.ended.into_std();
        if let Some(deadline) = journal.deadline() {
            require(ended <= deadline + ms(2), || {
                "ended after its deadline".into()
            })?;
        }
        let last = journal.attempts().last().copied();
        if let (Some(last), Some(_)) = (last, &done.result)
            && let Some(duration) = last.duration
        {
            let waited = ended.saturating_duration_since(last.began + duration);
            // A timeout that is not ours may stand around a wait of ours.
            let lingers = self.scenario.lingers || self.order.foreign() == Some(Foreign::Timeout);
            require(lingers || waited <= ms(2), || {
                format!("waited {waited:?} for nothing")
            })?;
        }
        Ok(())
    }
}
