//! Functions that take several locks at once by trying and backing off: C++'s `std::lock`, by which `std::scoped_lock` takes its own. Threads in
//! them may get in each other's way for ever, which no program is to blame for; so exploration is told when a thread is in one.
//!
//! Not here: what other libraries have of this kind (`boost::lock`), and `std::try_lock`, whose caller is the one to try again.

/// How such names begin, up to the template's arguments: in libstdc++ and in libc++, there with or without a tag.
const NAMES: &[&str] = &["_ZSt4lockI", "_ZNSt3__14lockI", "_ZNSt3__14lockB"];

/// Whether the function with this name is one.
pub(crate) fn takes_several(name: &str) -> bool {
    NAMES.iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::takes_several;

    #[test]
    fn std_lock_is_told_by_its_name() {
        for (name, expected) in [
            ("_ZSt4lockISt5mutexS0_JEEvRT_RT0_DpRT1_", true),
            ("_ZNSt3__14lockB8ne190107INS_5mutexES1_EEvRT_RT0_", true),
            ("_ZNSt3__14lockINS_5mutexES1_EEvRT_RT0_", true),
            ("_ZSt8try_lockISt5mutexS0_JEEiRT_RT0_DpRT1_", false),
            ("_ZNSt5mutex4lockEv", false),
            ("_ZN3own4lockISt5mutexEEvRT_", false),
        ] {
            assert_eq!(takes_several(name), expected, "{name}");
        }
    }
}
