//! Runtimes that end, runtimes that share an account, and no runtime at all.

use std::time::Duration;

use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{account, boxed, ms, read, recommended, s, send};
use tokio::runtime::{Builder, Runtime};
use tower::{Layer, Service, ServiceExt};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_call_outside_of_a_runtime_makes_a_future_that_can_be_awaited_inside() {
    let regions = ScriptedAccount::new(Document::multi_write(["A"]));
    let account = account(&regions, |account| account);
    let mut stack = recommended(&account).timeout(s(5)).layer(regions.clone());
    let runtime = runtime();
    runtime.block_on(async { account.refresh().await });
    runtime
        .block_on(async {
            ServiceExt::<cosmos_tests::Req>::ready(&mut stack)
                .await
                .map(|_| ())
        })
        .unwrap();
    let sending = stack.call(read());
    assert!(runtime.block_on(sending).unwrap().status().is_success());
}

#[test]
fn the_background_refresh_outlives_the_runtime_that_began_it() {
    let regions = ScriptedAccount::new(Document::multi_write(["A"]));
    let account = account(&regions, |account| {
        account.refresh_interval(ms(1)).background_period(ms(20))
    });
    let first = runtime();
    first.block_on(account.refresh());
    drop(first);
    let second = runtime();
    second.block_on(async {
        tokio::time::sleep(ms(5)).await;
        account.refresh().await;
        let before = regions.account_reads().len();
        tokio::time::sleep(ms(200)).await;
        let reads = regions.account_reads().len() - before;
        assert!(reads >= 2, "{reads} reads in ten periods");
    });
}

#[test]
fn runtimes_that_end_do_not_put_off_the_next_refresh() {
    let regions = ScriptedAccount::new(Document::multi_write(["A"]));
    let account = account(&regions, |account| account.refresh_interval(ms(200)));
    runtime().block_on(account.refresh());
    // Each asks for a refresh that its runtime does not live to make.
    for _ in 0..50 {
        runtime().block_on(async { account.request_refresh() });
    }
    let last = runtime();
    let refreshed = last
        .block_on(async { tokio::time::timeout(Duration::from_secs(2), account.refresh()).await });
    assert!(refreshed.is_ok(), "the refresh was put off by 50 intervals");
    assert_eq!(regions.account_reads().len(), 2);
}

#[test]
fn a_runtime_that_ends_in_the_middle_of_a_read_frees_the_slot() {
    let regions = ScriptedAccount::new(Document::multi_write(["A"]));
    let account = account(&regions, |account| account.refresh_interval(ms(20)));
    regions.script_account_reads("global", [Step::hang()]);
    let stack = boxed(recommended(&account).layer(regions.clone()));
    runtime().block_on(async {
        let stack = stack.clone();
        tokio::spawn(async move { send(&stack, read()).await });
        while regions.account_reads().is_empty() {
            tokio::time::sleep(ms(1)).await;
        }
    });
    let status = runtime().block_on(async {
        tokio::time::timeout(s(3), send(&stack, read()))
            .await
            .map(|seen| seen.status())
    });
    assert!(status.unwrap().is_success());
}

#[tokio::test(start_paused = true)]
async fn a_leaf_that_panics_on_account_reads_fails_operations_that_wait_for_them() {
    let panicking = tower::service_fn(crate::panics);
    let account = tower_cosmos::Account::new(
        ScriptedAccount::ENDPOINT,
        cosmos_tests::credential(),
        panicking,
    )
    .unwrap();
    let regions = ScriptedAccount::new(Document::multi_write(["A"]));
    let stack = boxed(recommended(&account).layer(regions.clone()));
    let seen = tokio::time::timeout(s(60), send(&stack, read())).await;
    let seen = seen.expect("the operation ends");
    assert_eq!(seen.error().kind(), cosmos_core::FailureKind::NoTopology);
}
