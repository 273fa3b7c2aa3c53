use cosmos_testbed::scripted::{Container, ScriptedAccount, Step};
use cosmos_tests::{boxed, ms, read, recommended, s, send};
use tokio::time::Instant;
use tower::Layer;
use tower_cosmos::PartitionLayer;

use super::{LINK, lab_with, multi};

/// Garbage of every kind fails no request.
#[tokio::test(start_paused = true)]
async fn garbage_fails_no_request() {
    let deep = "[".repeat(100_000);
    let long = format!("\"{}\"", "x".repeat(1_000_000));
    for body in [
        "",
        "{",
        "null",
        "[]",
        "{}",
        "\u{0}",
        deep.as_str(),
        long.as_str(),
        r#"{"_rid":"","partitionKey":{"paths":[],"kind":"Hash"}}"#,
        r#"{"_rid":1,"partitionKey":5}"#,
        r#"{"_rid":"r","partitionKey":{"paths":["/a"],"kind":"Hash","version":99999999999999999999}}"#,
        r#"{"_rid":"r","_rid":"s","partitionKey":{"paths":["/a"],"kind":"Hash","version":2}}"#,
        r#"{"_rid":"r","PartitionKeyRanges":[{"id":"","minInclusive":"","maxExclusive":"FF"}]}"#,
        r#"{"_rid":"r","PartitionKeyRanges":[{"id":"0","minInclusive":"FF","maxExclusive":""}]}"#,
        r#"{"_rid":"r","PartitionKeyRanges":[{"id":"0","minInclusive":"","maxExclusive":"FF","parents":["0"]}]}"#,
        r#"{"_rid":"r","PartitionKeyRanges":[{"id":"0","minInclusive":"","maxExclusive":"FFF"}]}"#,
    ] {
        for at in 0..2 {
            let (lab, _) = lab_with(multi(), |layers| {
                layers.partition(|layer| layer.enabled(true))
            });
            lab.regions.set_container(LINK, Container::new("rid"));
            let good = Step::status(200, 0).body(r#"{"id":"c","_rid":"rid","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#);
            let mut steps = vec![good; at];
            steps.push(Step::status(200, 0).body(body.to_owned()).forever());
            lab.regions.script_container_reads("A", steps);
            let began = Instant::now();
            assert!(lab.send(read()).await.status().is_success(), "{body:.60}");
            assert!(began.elapsed() <= ms(1100), "{body:.60}");
            assert!(lab.send(read()).await.status().is_success(), "{body:.60}");
        }
    }
}

/// Two lookups of an own each in one stack: after a split both must learn of it.
#[tokio::test(start_paused = true)]
async fn a_second_lookup_in_the_stack_learns_of_a_split_too() {
    let regions = ScriptedAccount::new(multi());
    let account = cosmos_tests::account(&regions, |account| account);
    regions.set_container(LINK, Container::new("rid"));
    let layers = recommended(&account).partition(|layer| layer.enabled(true));
    let inner = PartitionLayer::new(account.clone());
    let stack = tower::ServiceBuilder::new()
        .layer(PartitionLayer::new(account.clone()))
        .layer(tower_cosmos::RegionFailoverLayer::new(account.clone()))
        .layer(inner)
        .layer(layers)
        .service(regions.clone());
    let stack = boxed(stack);
    let _ = send(&stack, read()).await;
    regions.set_container(LINK, Container::new("rid").split("0", "20", ["1", "2"]));
    regions.script("A", [Step::status(410, 1002)]);
    let _ = send(&stack, read()).await;
    let range = send(&stack, read()).await.journal.unwrap().range();
    assert_ne!(range, Some("0".into()));
}

/// One permit for everything.
#[tokio::test(start_paused = true)]
async fn with_one_permit_for_leaf_and_reads_everything_ends() {
    let regions = ScriptedAccount::new(multi());
    let leaf = tower::ServiceBuilder::new()
        .concurrency_limit(1)
        .service(regions.clone());
    let start = std::time::SystemTime::UNIX_EPOCH;
    let account =
        tower_cosmos::Account::builder(ScriptedAccount::ENDPOINT, cosmos_tests::credential())
            .preferred_regions(["A", "B", "C"])
            .clock(tower_cosmos::Clock::starting_at(start))
            .build(leaf.clone())
            .unwrap();
    regions.set_container(LINK, Container::new("rid"));
    let stack = boxed(
        recommended(&account)
            .partition(|layer| layer.enabled(true))
            .layer(leaf),
    );
    regions.script("A", vec![Step::status(410, 1002); 5]);
    let mut set = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let stack = stack.clone();
        set.spawn(async move { send(&stack, read()).await.status() });
    }
    let began = Instant::now();
    while let Some(status) = set.join_next().await {
        assert!(status.unwrap().is_success());
    }
    assert!(began.elapsed() < s(5), "{:?}", began.elapsed());
    assert_eq!(regions.open(), 0);
}

/// A leaf that is full refuses at once.
#[tokio::test(start_paused = true)]
async fn a_leaf_that_sheds_load_fails_no_lookup_for_good() {
    let regions = ScriptedAccount::new(multi());
    let leaf = tower::ServiceBuilder::new()
        .load_shed()
        .concurrency_limit(1)
        .service(regions.clone());
    let account =
        tower_cosmos::Account::builder(ScriptedAccount::ENDPOINT, cosmos_tests::credential())
            .preferred_regions(["A", "B", "C"])
            .build(leaf.clone())
            .unwrap();
    regions.set_container(LINK, Container::new("rid"));
    let stack = boxed(
        recommended(&account)
            .partition(|layer| layer.enabled(true))
            .layer(leaf),
    );
    for _ in 0..3 {
        let mut set = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let stack = stack.clone();
            set.spawn(async move { send(&stack, read()).await.result.is_ok() });
        }
        while set.join_next().await.is_some() {}
        tokio::time::sleep(s(61)).await;
    }
    let journal = send(&stack, read()).await.journal.unwrap();
    assert_eq!(
        journal.range(),
        Some("0".into()),
        "{journal} {:?}",
        journal.range_problem()
    );
}
