//! Session tokens of partitions that split and merge.

use cosmos_core::RangeId;
use cosmos_testbed::scripted::{Container, Document, Step};
use cosmos_tests::{Lab, read};
use http::HeaderName;

use super::{LINK, layers, range, split};

const TOKEN: HeaderName = HeaderName::from_static("x-ms-session-token");
const RANGE: HeaderName = HeaderName::from_static("x-ms-documentdb-partitionkeyrangeid");

fn lab(container: Container) -> Lab {
    let lab = Lab::around(
        Document::multi_write(["A", "B", "C"]),
        |account| account,
        |account| layers(account).session_token(|layer| layer.enabled(true)),
    );
    lab.regions.set_container(LINK, container);
    lab
}

/// The tokens of the requests of one more read.
async fn sent(lab: &Lab) -> Vec<String> {
    lab.regions.clear_wire();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    let wire = lab.wire();
    let tokens = wire.0.iter().map(|entry| entry.header(TOKEN.as_str()));
    tokens.map(str::to_owned).collect()
}

fn teaching(range: &str, token: &str) -> Step {
    Step::status(200, 0)
        .header(TOKEN, token)
        .header(RANGE, range)
}

#[tokio::test(start_paused = true)]
async fn a_split_is_met_with_one_token_and_inherited_by_the_children() {
    let lab = lab(Container::new("rid"));
    lab.regions.script("A", [teaching("0", "0:1#5#1=2")]);
    assert_eq!(sent(&lab).await, [""]);
    lab.regions.set_container(LINK, split());
    lab.regions.script("A", [Step::status(410, 1002)]);
    assert_eq!(
        sent(&lab).await,
        ["0:1#5#1=2", "0:1#5#1=2"],
        "the same on every attempt"
    );
    assert_eq!(sent(&lab).await, ["1:1#5#1=2"]);
    lab.regions.script("A", [teaching("1", "1:2#7#1=3")]);
    let _ = sent(&lab).await;
    assert_eq!(sent(&lab).await, ["1:2#7#1=3"], "its own, once it has one");
}

#[tokio::test(start_paused = true)]
async fn what_a_child_has_answered_is_asked_for_in_the_very_next_operation() {
    let lab = lab(Container::new("rid"));
    lab.regions.script("A", [teaching("0", "0:1#5#1=2")]);
    assert_eq!(sent(&lab).await, [""]);
    // Nobody says that the range has split but the answer, which names its child.
    lab.regions.set_container(LINK, split());
    lab.regions.script("A", [teaching("1", "1:2#9#1=9")]);
    assert_eq!(sent(&lab).await, ["0:1#5#1=2"]);
    assert_eq!(sent(&lab).await, ["1:2#9#1=9"]);
}

#[tokio::test(start_paused = true)]
async fn a_merge_inherits_the_greater_of_both_parents_tokens() {
    let lab = lab(split());
    lab.regions
        .script("A", [teaching("1", "1:1#5#1=2,2:1#4#1=9")]);
    let _ = sent(&lab).await;
    assert_eq!(sent(&lab).await, ["1:1#5#1=2"]);
    lab.regions
        .set_container(LINK, split().merge(["1", "2"], "3"));
    lab.regions.script("A", [Step::status(410, 1002)]);
    let _ = sent(&lab).await;
    assert_eq!(range(&lab).await, Some(RangeId::from(3)));
    assert_eq!(sent(&lab).await, ["3:1#5#1=9"]);
}

#[tokio::test(start_paused = true)]
async fn a_container_whose_key_names_no_version_gets_its_token() {
    let lab = lab(Container::new("rid").unversioned());
    lab.regions.script("A", [teaching("0", "0:1#5")]);
    assert_eq!(sent(&lab).await, [""]);
    assert_eq!(sent(&lab).await, ["0:1#5"]);
}
