//! The results as one JSON object.

use std::collections::BTreeMap;

use cosmos_examples::load::DEADLINE;
use serde_json::{Map, Value, json};

use crate::AVOIDED;
use crate::results::{ClientResults, PhaseResults, Results};
use crate::setup::{HUB, NEXT_HUB, PerRegion, REGIONS};

/// The object that `--json` prints. `report` is where the report was written to.
pub(crate) fn object(results: &Results, report: &str) -> Value {
    let Results {
        options,
        schedule,
        plain,
        stack,
    } = results;
    let steps = schedule.failover();
    let phases: Vec<Value> = schedule
        .spans()
        .zip(plain.phases.iter().zip(&stack.phases))
        .map(|((phase, span), (in_plain, in_stack))| {
            json!({
                "name": phase.name(),
                "description": phase.description(),
                "from_s": span.start.as_secs_f64(),
                "to_s": span.end.as_secs_f64(),
                "plain": sums(in_plain, plain.journals),
                "stack": sums(in_stack, stack.journals),
            })
        })
        .collect();
    json!({
        "account": options.account.name(),
        "seconds": schedule.total().as_secs_f64(),
        "rate": options.rate,
        "deadline_s": DEADLINE.as_secs_f64(),
        "mark_s": AVOIDED.as_secs_f64(),
        "preferred_region": HUB,
        "plain": sums(&plain.total, plain.journals),
        "stack": sums(&stack.total, stack.journals),
        "phases": phases,
        "write_failover": {
            "from": HUB,
            "to": NEXT_HUB,
            "announced_s": steps.announced.as_secs_f64(),
            "completed_s": steps.completed.as_secs_f64(),
            "plain": failover(plain),
            "stack": failover(stack),
        },
        "report": report,
    })
}

/// The sums of one client, over all of the run or over one phase.
fn sums(results: &PhaseResults, journals: bool) -> Value {
    let tally = &results.tally;
    let mut by_reason = BTreeMap::<&str, u64>::new();
    let mut by_cause = BTreeMap::<String, u64>::new();
    for ((reason, followed), count) in &tally.retries {
        *by_reason.entry(reason.name()).or_default() += count;
        by_cause.insert(format!("{} after {followed}", reason.name()), *count);
    }
    json!({
        "operations": tally.operations,
        "failed": tally.failed(),
        "reads_failed": tally.reads_failed,
        "writes_failed": tally.writes_failed,
        "success_rate": tally.success_rate(),
        "p50_ms": tally.latencies.quantile_ms(0.5),
        "p99_ms": tally.latencies.quantile_ms(0.99),
        "max_ms": tally.latencies.max_ms(),
        "requests_by_region": by_region(&results.requests),
        "journal_requests_by_region": journals.then(|| journal(&tally.answered, &tally.ambiguous)),
        "retries_by_reason": by_reason,
        "retries_by_cause": by_cause,
        "failures_by_cause": tally.failures,
    })
}

fn by_region(counts: &PerRegion) -> Value {
    let named = REGIONS.iter().zip(counts);
    named
        .map(|(region, count)| ((*region).to_owned(), json!(count)))
        .collect::<Map<_, _>>()
        .into()
}

fn journal(answered: &PerRegion, ambiguous: &PerRegion) -> Value {
    let counts = answered.iter().zip(ambiguous);
    let named = REGIONS.iter().zip(counts);
    named
        .map(|(region, (answered, ambiguous))| {
            let counts = json!({ "answered": answered, "ambiguous": ambiguous });
            ((*region).to_owned(), counts)
        })
        .collect::<Map<_, _>>()
        .into()
}

fn failover(client: &ClientResults) -> Value {
    json!({
        "writes_failed_while_both_listed": client.failover.failed_while_both_listed,
        "writes_recovered_after_s": client.failover.recovered_after.map(|after| after.as_secs_f64()),
    })
}
