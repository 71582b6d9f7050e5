//! What the arguments of a function of the C++ library are, read off its demangled name: what it only reads, its streams and strings.
//!
//! A name that is not understood says nothing, and whoever asks has to take each argument for memory that is written.

use model::external::handed::Object;

/// What a name says of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// Whether it only reads what the argument points to.
    pub(super) only_reads: bool,
    /// What that is; `None` for what is no memory of the program's, as a function.
    pub(super) object: Option<Object>,
}

/// What a mangled name with this readable form says of the arguments behind the place for its result, if it has so many; the object whose member it is comes first.
pub(super) fn said(mangled: &str, readable: &str, count: usize) -> Option<Vec<Said>> {
    let (name, parameters) = parts(readable)?;
    let of_parameter = |parameter: &&str| {
        let bare = parameter.trim_end_matches(['&', '*', ' ']);
        let only_reads = bare.ends_with("const") && parameter.len() > bare.len();
        let object = object(bare.trim_end_matches("const").trim_end());
        Said { only_reads, object: (!parameter.contains("(*)")).then_some(object) }
    };
    let mut said: Vec<Said> = parameters.iter().map(of_parameter).collect();
    if said.len() + 1 == count {
        said.insert(0, of_object(mangled, name));
    }
    (said.len() == count).then_some(said)
}

/// The object whose member a function of this name is.
fn of_object(mangled: &str, name: &str) -> Said {
    let (class, method) = match name.find("::operator") {
        Some(at) => (&name[..at], &name[at + 2..]),
        None => last_of(name, "::").map_or(("", name), |at| (&name[..at], &name[at + 2..])),
    };
    let class = last_of(class, " ").map_or(class, |at| &class[at + 1..]);
    let only_reads = mangled.starts_with("_ZNK");
    // What is being made has no state to find yet, and what ends has none to keep.
    let is_end = method.starts_with('~') || method.split('<').next() == Some(simple(class));
    Said { only_reads, object: Some(if is_end { Object::Memory } else { object(class) }) }
}

/// What an object of this type is.
fn object(ty: &str) -> Object {
    match simple(ty) {
        "string" | "basic_string" => Object::Text,
        name if name.ends_with("stream") => Object::Stream,
        "directory_iterator" | "recursive_directory_iterator" => Object::Holder,
        _ => Object::Memory,
    }
}

/// The name of a type without its namespaces and arguments.
fn simple(ty: &str) -> &str {
    let last = last_of(ty, "::").map_or(ty, |at| &ty[at + 2..]);
    last.split('<').next().unwrap_or(last)
}

/// Where a text stands last outside of brackets.
fn last_of(text: &str, wanted: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, letter) in text.char_indices().rev() {
        match letter {
            '>' | ')' | ']' => depth += 1,
            '<' | '(' | '[' => depth -= 1,
            _ if depth == 0 && text[at..].starts_with(wanted) => return Some(at),
            _ => {}
        }
    }
    None
}

/// A function's name, with its result where that is said, and its parameters.
fn parts(readable: &str) -> Option<(&str, Vec<&str>)> {
    let end = readable.rfind(')')?;
    let mut depth = 0_i32;
    let begin = readable[..=end].char_indices().rev().find_map(|(at, letter)| {
        depth += i32::from(letter == ')') - i32::from(letter == '(');
        (depth == 0).then_some(at)
    })?;
    let (mut parameters, mut from, mut depth) = (Vec::new(), begin + 1, 0_i32);
    for (at, letter) in readable[..end].char_indices().skip_while(|(at, _)| *at <= begin) {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parameters.push(readable[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    let last = readable[from..end].trim();
    if !last.is_empty() {
        parameters.push(last);
    }
    Some((&readable[..begin], parameters))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::demangle;

    /// One letter an argument: of its object (`m`, `s`, `t`; `-` for none), in capitals where it may be written.
    fn letters(mangled: &str, count: usize) -> String {
        let readable = demangle(mangled).expect("a mangled name");
        let letter = |said: Said| {
            let letter = match said.object {
                None => '-',
                Some(Object::Stream) => 's',
                Some(Object::Text) => 't',
                Some(_) => 'm',
            };
            if said.only_reads { letter } else { letter.to_ascii_uppercase() }
        };
        said(mangled, &readable, count).map_or_else(|| "?".to_owned(), |all| all.into_iter().map(letter).collect())
    }

    #[test]
    fn names_tell_what_arguments_are() {
        for (mangled, count, expected) in [
            ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm", 3, "TmM"),
            ("_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareERKS4_", 2, "tt"),
            ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS4_", 2, "Mt"),
            ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev", 1, "M"),
            ("_ZNSolsEi", 2, "SM"),
            ("_ZNSolsEPFRSoS_E", 2, "S-"),
            ("_ZNSo9_M_insertIlEERSoT_", 2, "SM"),
            ("_ZNSo6sentryC1ERSo", 2, "MS"),
            ("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", 2, "Sm"),
            ("_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l", 3, "SmM"),
            ("_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE", 2, "ST"),
            ("_ZNKSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv", 1, "s"),
            ("_ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate", 2, "MM"),
            ("_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base", 1, "m"),
            ("_ZNSolsEi", 3, "?"),
        ] {
            assert_eq!(letters(mangled, count), expected, "{mangled}");
        }
    }
}
