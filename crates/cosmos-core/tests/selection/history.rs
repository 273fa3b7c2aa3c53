//! What counts as a failure in a region.

use cosmos_core::selection::{History, failed_in_region};
use cosmos_core::{FailureKind, Outcome, Region, Status};

use crate::{UNAVAILABLE, attempts, region};

#[test]
fn answers_that_another_region_might_better_are_failures_in_the_region() {
    for (code, substatus, failed) in [
        (200, 0, false),
        (201, 0, false),
        (304, 0, false),
        (400, 0, false),
        (401, 0, false),
        (403, 0, false),
        (403, 3, true),
        (403, 1008, true),
        (403, 5300, false),
        (404, 0, false),
        (404, 1002, true),
        (404, 1003, false),
        (408, 0, true),
        (408, 20008, false),
        (408, 21013, true),
        (409, 0, false),
        (410, 0, true),
        (410, 1002, true),
        (410, 1022, true),
        (412, 0, false),
        (413, 0, false),
        (429, 0, false),
        (429, 1002, false),
        (429, 3092, true),
        (429, 3200, false),
        (449, 0, false),
        (500, 0, true),
        (502, 0, true),
        (503, 0, true),
        (504, 0, true),
        (507, 0, true),
    ] {
        let outcome = Outcome::Answered(Status::new(code, substatus));
        assert_eq!(failed_in_region(outcome), failed, "{code}/{substatus}");
    }
}

#[test]
fn failures_of_the_way_to_a_region_count_and_refusals_of_this_side_do_not() {
    use FailureKind::{
        AttemptTimeout, BodyCut, BodyTimeout, BodyTooLarge, Closed, Connect, ConnectTimeout,
        Credential, DeadlineExceeded, Dns, Excluded, InvalidRequest, Io, Lost, MayHaveRun,
        Negotiation, NotProcessed, Other, PoolLimit, Refused, RequestBody, Reset, Tls,
    };
    for kind in [
        Dns,
        Refused,
        ConnectTimeout,
        Connect,
        Tls,
        Negotiation,
        PoolLimit,
        NotProcessed,
        Reset,
        Closed,
        Io,
        AttemptTimeout,
        BodyTimeout,
        BodyCut,
        Other,
        Lost,
    ] {
        assert!(failed_in_region(Outcome::Failed(kind)), "{kind}");
    }
    for kind in [
        Credential,
        BodyTooLarge,
        DeadlineExceeded,
        MayHaveRun,
        Excluded,
        RequestBody,
        InvalidRequest,
    ] {
        assert!(!failed_in_region(Outcome::Failed(kind)), "{kind}");
    }
    assert!(failed_in_region(Outcome::Abandoned));
    assert!(!failed_in_region(Outcome::InFlight));
}

#[test]
fn a_region_that_failed_once_counts_as_tried_for_the_rest_of_the_operation() {
    let (east, west) = (region("eastus"), region("westus3"));
    let fine = Outcome::Answered(Status::new(429, 0));
    let history = History::of(&attempts(&[
        (east, UNAVAILABLE),
        (west, fine),
        (east, fine),
    ]));
    assert!(history.tried(east));
    assert!(!history.tried(west));
    assert!(!history.tried(region("northeurope")));
    assert_eq!(history.usage(east), (2, 2));
    assert_eq!(history.usage(west), (1, 1));
    assert_eq!(history.usage(region("northeurope")), (0, 0));
    assert_eq!(history.last_region(), Some(east));
    assert_eq!(History::of(&[]).last_region(), None);
    let global = History::of(&attempts(&[(Region::GLOBAL, UNAVAILABLE)]));
    assert!(global.tried(Region::GLOBAL));
}
