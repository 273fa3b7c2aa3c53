//! Which operations follow their partition, and which answers show where it is.

use cosmos_core::write_regions::{confirms, eligible};
use cosmos_core::{Action, Operation, Resource, Status};

const ACTIONS: [Action; 14] = [
    Action::Read,
    Action::Head,
    Action::ReadFeed,
    Action::ChangeFeed,
    Action::Query,
    Action::QueryPlan,
    Action::Create,
    Action::Upsert,
    Action::Replace,
    Action::Patch,
    Action::Delete,
    Action::Batch,
    Action::Execute,
    Action::DeleteByPartitionKey,
];

const RESOURCES: [Resource; 14] = [
    Resource::Account,
    Resource::Database,
    Resource::Container,
    Resource::Item,
    Resource::StoredProcedure,
    Resource::Trigger,
    Resource::UserDefinedFunction,
    Resource::PartitionKeyRange,
    Resource::Conflict,
    Resource::PartitionKeyDelete,
    Resource::User,
    Resource::Permission,
    Resource::ClientEncryptionKey,
    Resource::Offer,
];

const FOLLOWING: [(Action, Resource); 8] = [
    (Action::Create, Resource::Item),
    (Action::Upsert, Resource::Item),
    (Action::Replace, Resource::Item),
    (Action::Patch, Resource::Item),
    (Action::Delete, Resource::Item),
    (Action::Batch, Resource::Item),
    (Action::DeleteByPartitionKey, Resource::PartitionKeyDelete),
    (Action::Execute, Resource::StoredProcedure),
];

#[test]
fn writes_of_one_partition_follow_it_and_nothing_else_does() {
    for action in ACTIONS {
        for resource in RESOURCES {
            let operation = Operation::new(action, resource);
            let expected = FOLLOWING.contains(&(action, resource));
            let found = eligible(operation.with_partition(true));
            assert_eq!(found, expected, "{action:?} {resource:?}");
            assert!(!eligible(operation), "{action:?} {resource:?}");
        }
    }
}

#[test]
fn a_region_that_carried_the_write_out_or_refused_it_for_the_items_sake_is_confirmed() {
    for (action, resource) in FOLLOWING {
        let operation = Operation::new(action, resource).with_partition(true);
        for code in [200, 201, 204, 207, 409, 412] {
            assert!(
                confirms(operation, Status::new(code, 0)),
                "{action:?} {code}"
            );
        }
        assert!(confirms(operation, Status::new(409, 1)), "{action:?}");
        let knows_the_item = matches!(action, Action::Replace | Action::Patch | Action::Delete);
        assert_eq!(
            confirms(operation, Status::new(404, 0)),
            knows_the_item,
            "{action:?}"
        );
        for (code, substatus) in [
            (199, 0),
            (304, 0),
            (400, 0),
            (401, 0),
            (403, 0),
            (403, 3),
            (403, 1008),
            (404, 1002),
            (404, 1003),
            (408, 0),
            (408, 20008),
            (410, 0),
            (413, 0),
            (429, 0),
            (429, 3092),
            (449, 0),
            (500, 0),
            (503, 0),
        ] {
            let status = Status::new(code, substatus);
            assert!(!confirms(operation, status), "{action:?} {status}");
        }
    }
}

#[test]
fn a_read_confirms_nothing() {
    for action in [Action::Read, Action::Query, Action::ReadFeed] {
        let operation = Operation::new(action, Resource::Item).with_partition(true);
        for code in [200, 404, 409, 412] {
            assert!(!confirms(operation, Status::new(code, 0)));
        }
    }
}
