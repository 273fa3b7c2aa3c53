//! Paths, cut into segments without copying them.

/// The most segments that a path of the service has.
pub(crate) const LONGEST: usize = 6;

/// The path without its query string, one leading slash and one trailing slash.
pub(crate) fn trim(path: &str) -> &str {
    // Byte by byte here and below: paths are short, and a search for each slash costs more.
    let end = path.bytes().position(|byte| matches!(byte, b'?' | b'#'));
    let path = end.map_or(path, |end| &path[..end]);
    let path = path.strip_prefix('/').unwrap_or(path);
    match path.strip_suffix('/') {
        // `//` names an empty segment, which is not the account.
        Some("") | None => path,
        Some(rest) => rest,
    }
}

/// The segments of a path, in `buffer`. `None` if one is empty or there are too many.
pub(crate) fn split<'b, 'p>(
    path: &'p str,
    buffer: &'b mut [&'p str; LONGEST],
) -> Option<&'b [&'p str]> {
    let path = trim(path);
    if path.is_empty() {
        return Some(&[]);
    }
    let mut count = 0;
    let mut rest = path;
    loop {
        let slash = rest.bytes().position(|byte| byte == b'/');
        let segment = slash.map_or(rest, |slash| &rest[..slash]);
        if segment.is_empty() {
            return None;
        }
        *buffer.get_mut(count)? = segment;
        count += 1;
        match slash {
            Some(slash) => rest = &rest[slash + 1..],
            None => return buffer.get(..count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(path: &str) -> Option<Vec<&str>> {
        split(path, &mut [""; LONGEST]).map(<[_]>::to_vec)
    }

    #[test]
    fn slashes_at_either_end_and_query_strings_do_not_count() {
        let two = Some(vec!["dbs", "a"]);
        for path in [
            "/dbs/a",
            "/dbs/a/",
            "dbs/a",
            "/dbs/a?x=/y/z",
            "/dbs/a/?x",
            "/dbs/a#f",
        ] {
            assert_eq!(segments(path), two, "{path}");
        }
        for path in ["", "/", "/?x=1", "?x"] {
            assert_eq!(segments(path), Some(vec![]), "{path}");
        }
    }

    #[test]
    fn empty_segments_and_long_paths_are_refused() {
        for path in ["//", "//dbs", "/dbs//", "/dbs//colls", "/a/b/c/d/e/f/g"] {
            assert_eq!(segments(path), None, "{path}");
        }
    }
}
