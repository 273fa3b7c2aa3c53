//! The header that tells which container answered.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderName;

use super::engine::Answer;

/// The resource id of the container that an item is in. A name that belongs to another container by
/// now is known by it.
const CONTENT_PATH: HeaderName = HeaderName::from_static("x-ms-content-path");

/// How many bytes of a resource id are the container's; an item's own follow.
const CONTAINER: usize = 8;

/// Adds the header, which the emulator leaves out, to an answer that shows an item or a feed: their
/// resource ids begin with their container's. An answer without a body stays without.
pub(crate) fn add(answer: &mut Answer) {
    if !answer.status.is_success() {
        return;
    }
    if let Some(value) = container_of(&answer.body).and_then(|rid| rid.parse().ok()) {
        answer.headers.insert(CONTENT_PATH, value);
    }
}

fn container_of(body: &[u8]) -> Option<String> {
    let document: serde_json::Value = serde_json::from_slice(body).ok()?;
    let rid = document.get("_rid")?.as_str()?;
    // Resource ids are base64 with a sign of its own that paths can hold.
    let bytes = STANDARD.decode(rid.replace('-', "/")).ok()?;
    let container = bytes.get(..CONTAINER)?;
    Some(STANDARD.encode(container).replace('/', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_and_a_feed_are_of_the_same_container() {
        let container = STANDARD.encode([0, 0, 0, 1, 128, 0, 0, 1]);
        let item = STANDARD.encode([0, 0, 0, 1, 128, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0]);
        for rid in [&container, &item] {
            let body = format!(r#"{{"_rid":"{rid}","id":"1"}}"#);
            assert_eq!(container_of(body.as_bytes()).as_ref(), Some(&container));
        }
        for none in ["", "[]", r#"{"id":"1"}"#, r#"{"_rid":"AAAA"}"#] {
            assert_eq!(container_of(none.as_bytes()), None, "{none}");
        }
    }
}
