//! How things are said to people: counts with their nouns, names of C++ as the source has them, paths without detours, and words that can
//! be pasted into a shell.
//!
//! Not here: names of other languages; what does not demangle is left as it is. Symbolic links in paths are not looked up.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use cpp_demangle::{DemangleOptions, Symbol};
use model::program::{Gap, Uncovered};

/// A count and its noun: `1 process`, `2 processes`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = match noun {
        _ if count == N::from(1) => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// A path as one word of a shell's command line.
pub(crate) fn pasted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+=:,@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A text with every linkage name of C++ in it replaced by the name in the source, without parameters and long template arguments, and
/// with paths through parents (`lib/gcc/../../include`) made direct.
pub(crate) fn readable(text: &str) -> String {
    let named = named(text);
    if !named.contains("/../") {
        return named;
    }
    named.split_inclusive(' ').map(direct).collect()
}

/// A path without its steps into a folder and back.
fn direct(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match kept.last() {
            Some(&last) if part == ".." && !matches!(last, "" | "." | "..") => {
                kept.pop();
            }
            _ => kept.push(part),
        }
    }
    kept.join("/")
}

fn named(text: &str) -> String {
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
    Some(without_long_arguments(name.strip_prefix("typeinfo name for ").unwrap_or(&name)))
}

/// Characters of template arguments that are still shown.
const SHORT: usize = 24;

/// A name in which template arguments that would hide it are left out.
fn without_long_arguments(name: &str) -> String {
    let mut said = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('<') {
        let (before, arguments) = rest.split_at(at);
        said.push_str(before);
        // `operator<` and `operator<<` open nothing.
        let opens = !said.ends_with("operator") && !said.ends_with("operator<");
        let end = if opens { closing(arguments) } else { 1 };
        said.push_str(if end > SHORT + 2 { "<…>" } else { &arguments[..end] });
        rest = &arguments[end..];
    }
    said + rest
}

/// Where the arguments that a text begins with end: behind the bracket that closes the first one, or the text's end.
fn closing(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
        before = letter;
    }
    text.len()
}

/// How many functions are named that are left alone for the same reason.
const NAMED: usize = 4;

/// What is not covered: each reason, and what it holds for. Functions of one reason, of which there may be many, stand together.
pub(crate) fn not_covered<'a>(uncovered: impl IntoIterator<Item = &'a Uncovered>) -> Vec<(&'a str, String)> {
    let (functions, others): (Vec<_>, Vec<_>) = uncovered.into_iter().partition(|one| one.gap == Gap::Function);
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in functions {
        reasons.entry(&one.why).or_default().push(&one.what);
    }
    let named = |(why, names): (_, Vec<&str>)| {
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {}", counted(more, "more function")) } else { String::new() };
        (why, names[..names.len().min(NAMED)].join(", ") + &more)
    };
    reasons.into_iter().map(named).chain(others.into_iter().map(|one| (one.why.as_str(), one.what.clone()))).collect()
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
    fn what_a_shell_would_take_apart_is_quoted() {
        for (path, expected) in [("./app", "./app"), ("größe/a+b", "größe/a+b"), ("my app", "'my app'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(pasted(Path::new(path)), expected);
        }
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
            ("_ZN4PairIilE4makeEv", "Pair<int, long>::make"),
            ("_ZNSt6vectorI10LongEnoughSaIS0_EE9push_backEOS0_", "std::vector<…>::push_back"),
            ("_ZlsRSo4Item", "operator<<"),
            (
                "/usr/lib/gcc/12/../../../include/c++/12/deque:9 (_ZN1a1bEv) .. ../here/c.c:1",
                "/usr/include/c++/12/deque:9 (a::b) .. ../here/c.c:1",
            ),
            ("", ""),
        ] {
            assert_eq!(readable(text), expected);
        }
    }

    #[test]
    fn functions_that_are_left_alone_for_one_reason_stand_together() {
        let uncovered = |what: &str, why: &str, gap| Uncovered { what: what.into(), why: why.into(), gap };
        let functions = ["a", "b", "c", "d", "e"].map(|name| uncovered(name, "setjmp", Gap::Function));
        let others = ["one.so", "two.so"].map(|name| uncovered(name, "a shared library", Gap::Library));
        let all: Vec<Uncovered> = functions.into_iter().chain([uncovered("f", "naked", Gap::Function)]).chain(others).collect();
        let expected =
            [("naked", "f"), ("setjmp", "a, b, c, d and 1 more function"), ("a shared library", "one.so"), ("a shared library", "two.so")];
        assert_eq!(not_covered(&all), expected.map(|(why, names)| (why, names.to_owned())));
    }
}
