//! What library functions do to pointers.
//!
//! A function that is not here is taken to return memory of its own, and to call functions that it is given, sooner or later, with what it is
//! given behind them: the convention of callbacks with a data pointer. Not handled: pointers that a library keeps and gives back.

use model::external;

/// One effect of a call. Numbers are those of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It returns an argument, or what lies in the same object.
    Returns(usize),
    /// It copies what one argument points to, to where the other one does.
    Copies {
        /// The target.
        to: usize,
        /// The source.
        from: usize,
    },
    /// It calls an argument with others, before it returns.
    Calls {
        /// The function.
        function: usize,
        /// What it is given.
        with: &'static [usize],
    },
    /// It has an argument called with others some time: by another thread, at the end, at a signal.
    Registers {
        /// The function.
        function: usize,
        /// What it is given.
        with: &'static [usize],
    },
    /// It calls what this global holds, before it returns.
    CallsStored(&'static str),
    /// It calls a method of the object that a smart pointer, its argument, points to: any slot of the virtual table.
    CallsMethodOf(usize),
    /// It stores the second argument for `Recalls` of the same first one.
    Keeps,
    /// It returns what was stored.
    Recalls,
}

use Effect as E;

/// Functions with effects, sorted by name; a test keeps it so.
#[rustfmt::skip]
static LIBRARY: &[(&str, &[Effect])] = &[
    ("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE", &[E::CallsMethodOf(1)]),
    ("__cxa_atexit", &[E::Registers { function: 0, with: &[1] }]),
    ("atexit", &[E::Registers { function: 0, with: &[] }]),
    ("bsearch", &[E::Calls { function: 4, with: &[0, 1] }, E::Returns(1)]),
    ("call_once", &[E::Calls { function: 1, with: &[] }]),
    ("fgets", &[E::Returns(0)]),
    ("lfind", &[E::Calls { function: 4, with: &[0, 1] }, E::Returns(1)]),
    ("lsearch", &[E::Calls { function: 4, with: &[0, 1] }, E::Copies { to: 1, from: 0 }, E::Returns(1)]),
    ("memchr", &[E::Returns(0)]),
    ("memcpy", &[E::Copies { to: 0, from: 1 }, E::Returns(0)]),
    ("memmove", &[E::Copies { to: 0, from: 1 }, E::Returns(0)]),
    ("mempcpy", &[E::Copies { to: 0, from: 1 }, E::Returns(0)]),
    ("memrchr", &[E::Returns(0)]),
    ("memset", &[E::Returns(0)]),
    ("on_exit", &[E::Registers { function: 0, with: &[1] }]),
    ("pthread_create", &[E::Registers { function: 2, with: &[3] }]),
    ("pthread_getspecific", &[E::Recalls]),
    ("pthread_key_create", &[E::Registers { function: 1, with: &[] }]),
    // `std::call_once` gives it a function of the C++ library, which calls what the thread has stored.
    ("pthread_once", &[E::Calls { function: 1, with: &[] }, E::CallsStored("_ZSt11__once_call")]),
    ("pthread_setspecific", &[E::Keeps]),
    ("qsort", &[E::Calls { function: 3, with: &[0, 0] }]),
    ("qsort_r", &[E::Calls { function: 3, with: &[0, 0, 4] }]),
    ("realloc", &[E::Returns(0)]),
    ("reallocarray", &[E::Returns(0)]),
    ("signal", &[E::Registers { function: 1, with: &[] }]),
    ("stpcpy", &[E::Returns(0)]),
    ("stpncpy", &[E::Returns(0)]),
    ("strcat", &[E::Returns(0)]),
    ("strchr", &[E::Returns(0)]),
    ("strcpy", &[E::Returns(0)]),
    ("strncat", &[E::Returns(0)]),
    ("strncpy", &[E::Returns(0)]),
    ("strpbrk", &[E::Returns(0)]),
    ("strrchr", &[E::Returns(0)]),
    ("strstr", &[E::Returns(0)]),
    ("strtok", &[E::Returns(0)]),
    ("thrd_create", &[E::Registers { function: 1, with: &[2] }]),
];

/// What a library function does to pointers; `None` for one that is not known.
pub(super) fn effects(name: &str) -> Option<&'static [Effect]> {
    LIBRARY.binary_search_by(|(known, _)| (*known).cmp(external::plain(name))).ok().map(|index| LIBRARY[index].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_name_is_found() {
        assert!(LIBRARY.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(LIBRARY.iter().all(|(name, known)| effects(name) == Some(known)));
        assert_eq!(effects("no_such_function"), None);
    }
}
