//! The report: one page that needs nothing else, with plots drawn as SVG.

mod page;
mod plot;
mod plots;

use std::fs;
use std::io;
use std::path::Path;

use crate::results::Results;

/// Writes the report, and the folder that it is in.
pub(crate) fn write(results: &Results, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, page::page(results))
}
