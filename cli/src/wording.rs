//! How things are said to people: counts with their nouns, and names of C++ as the source has them.
//!
//! Not here: names of other languages; what does not demangle is left as it is.

use std::fmt::Display;

use cpp_demangle::{DemangleOptions, Symbol};

/// A count and its noun: `1 process`, `2 processes`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = match noun {
        _ if count == N::from(1) => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// A text with every linkage name of C++ in it replaced by the name in the source, without parameters.
pub(crate) fn demangled(text: &str) -> String {
    let mut said = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| !of_name(letter)).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, behind) = rest.split_at(end);
        said.push_str(&source_name(word).unwrap_or_else(|| word.to_owned()));
        rest = behind;
    }
    said
}

fn of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$'
}

fn source_name(word: &str) -> Option<String> {
    let symbol = word.starts_with("_Z").then(|| Symbol::new(word).ok())??;
    let name = symbol.demangle_with_options(&DemangleOptions::new().no_params().no_return_type()).ok()?;
    // A type's linkage name is that of its name in the run-time type information.
    Some(name.strip_prefix("typeinfo name for ").map_or_else(|| name.clone(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_follows_its_count() {
        let said = [counted(0_u32, "pair"), counted(1_u64, "process"), counted(2_usize, "process"), counted(1_u32, "lock")];
        assert_eq!(said, ["0 pairs", "1 process", "2 processes", "1 lock"]);
    }

    #[test]
    fn linkage_names_in_a_text_become_names_of_the_source() {
        for (text, expected) in [
            ("queue.cpp:12 (_ZN5Queue4pushEi)", "queue.cpp:12 (Queue::push)"),
            ("_ZTS5Queue::+8 and 2 more", "Queue::+8 and 2 more"),
            ("_ZN3one3twoE@main.cpp", "one::two@main.cpp"),
            ("log_state@main.c", "log_state@main.c"),
            ("_Znot a name, _Z", "_Znot a name, _Z"),
            ("über _ZN5Queue4pushEi …", "über Queue::push …"),
            ("", ""),
        ] {
            assert_eq!(demangled(text), expected);
        }
    }
}
