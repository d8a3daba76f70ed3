//! What the JSON decoder promises, row by row of the mapping.
