//! Programs a reader would copy.
