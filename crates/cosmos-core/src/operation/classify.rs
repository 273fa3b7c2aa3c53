//! From method, path and headers to an operation.

use http::{HeaderMap, Method, header::CONTENT_TYPE};

use super::{Action, Operation, Resource, path};
use crate::headers;

/// Whether a path names one resource, or the list that new ones are added to.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Form {
    One,
    Feed,
}

pub(super) fn classify(method: &Method, path: &str, headers: &HeaderMap) -> Option<Operation> {
    let (resource, form) = locate(path)?;
    let action = match *method {
        // The only thing on this path is the deletion, and that is a POST.
        _ if resource == Resource::PartitionKeyDelete => {
            (*method == Method::POST).then_some(Action::DeleteByPartitionKey)?
        }
        Method::GET => read(resource, form, headers),
        Method::HEAD => Action::Head,
        Method::POST => post(resource, form, headers)?,
        Method::PUT if form == Form::One && is_replaceable(resource) => Action::Replace,
        Method::PATCH if form == Form::One && resource == Resource::Item => Action::Patch,
        Method::DELETE if form == Form::One && is_deletable(resource) => Action::Delete,
        _ => return None,
    };
    let names_partition = headers.contains_key(headers::PARTITION_KEY)
        || headers.contains_key(headers::PARTITION_KEY_RANGE_ID);
    Some(Operation::new(action, resource).with_partition(names_partition))
}

fn locate(path: &str) -> Option<(Resource, Form)> {
    use Form::{Feed, One};
    Some(match path::split(path, &mut [""; path::LONGEST])? {
        [] => (Resource::Account, One),
        ["offers"] => (Resource::Offer, Feed),
        ["offers", _] => (Resource::Offer, One),
        ["dbs"] => (Resource::Database, Feed),
        ["dbs", _] => (Resource::Database, One),
        ["dbs", _, keyword] => (below_database(keyword)?, Feed),
        ["dbs", _, keyword, _] => (below_database(keyword)?, One),
        ["dbs", _, "users", _, "permissions"] => (Resource::Permission, Feed),
        ["dbs", _, "users", _, "permissions", _] => (Resource::Permission, One),
        ["dbs", _, "colls", _, "operations", "partitionkeydelete"] => {
            (Resource::PartitionKeyDelete, One)
        }
        ["dbs", _, "colls", _, keyword] => (below_container(keyword)?, Feed),
        ["dbs", _, "colls", _, keyword, _] => (below_container(keyword)?, One),
        _ => return None,
    })
}

fn below_database(keyword: &str) -> Option<Resource> {
    match keyword {
        "colls" => Some(Resource::Container),
        "users" => Some(Resource::User),
        "clientencryptionkeys" => Some(Resource::ClientEncryptionKey),
        _ => None,
    }
}

fn below_container(keyword: &str) -> Option<Resource> {
    match keyword {
        "docs" => Some(Resource::Item),
        "sprocs" => Some(Resource::StoredProcedure),
        "triggers" => Some(Resource::Trigger),
        "udfs" => Some(Resource::UserDefinedFunction),
        "pkranges" => Some(Resource::PartitionKeyRange),
        "conflicts" => Some(Resource::Conflict),
        _ => None,
    }
}

fn read(resource: Resource, form: Form, headers: &HeaderMap) -> Action {
    match form {
        Form::One => Action::Read,
        // Reads of partition key ranges carry `a-im`, too, and stay feeds.
        Form::Feed if resource == Resource::Item && headers.contains_key(headers::A_IM) => {
            Action::ChangeFeed
        }
        Form::Feed => Action::ReadFeed,
    }
}

fn post(resource: Resource, form: Form, headers: &HeaderMap) -> Option<Action> {
    if form == Form::One {
        // Decided by the path alone: no header may turn a script's execution into something that
        // is safe to send again.
        return (resource == Resource::StoredProcedure).then_some(Action::Execute);
    }
    let is_item = resource == Resource::Item;
    // The order matters: a request for a query's plan says that it is a query, too.
    if is_item && headers::is_true(headers, &headers::IS_QUERY_PLAN_REQUEST) {
        Some(Action::QueryPlan)
    } else if headers::is_true(headers, &headers::IS_QUERY) || has_query_type(headers) {
        Some(Action::Query)
    } else if is_item && headers::is_true(headers, &headers::IS_BATCH_REQUEST) {
        Some(Action::Batch)
    } else if !is_creatable(resource) {
        None
    } else if headers::is_true(headers, &headers::IS_UPSERT) {
        Some(Action::Upsert)
    } else {
        Some(Action::Create)
    }
}

fn has_query_type(headers: &HeaderMap) -> bool {
    const QUERY: &[u8] = b"application/query+json";
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.as_bytes().trim_ascii_start().get(..QUERY.len()))
        .is_some_and(|start| start.eq_ignore_ascii_case(QUERY))
}

/// Offers, partition key ranges and conflicts come from the service, never from a caller.
fn is_creatable(resource: Resource) -> bool {
    !matches!(
        resource,
        Resource::Account | Resource::Offer | Resource::PartitionKeyRange | Resource::Conflict
    )
}

fn is_replaceable(resource: Resource) -> bool {
    !matches!(
        resource,
        Resource::Account | Resource::Database | Resource::PartitionKeyRange | Resource::Conflict
    )
}

fn is_deletable(resource: Resource) -> bool {
    !matches!(
        resource,
        Resource::Account | Resource::Offer | Resource::PartitionKeyRange
    )
}
