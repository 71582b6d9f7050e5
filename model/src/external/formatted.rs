//! Which functions of the C library are handed a format, and how what it tells of comes behind it. What a format itself says is in `format`.
//!
//! Not meant: formats of times (`strftime`) and amounts, which tell of no memory.

use super::handed::Object;
use super::plain;
use crate::pair::Rw;

/// A function's format, which tells of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Which argument it is. What it tells of begins behind it.
    pub argument: u8,
    /// Whether that is written, as by `sscanf`, or read, as by `printf`.
    pub rw: Rw,
    /// What is handed behind it: each argument, or a list of them; and whether its characters are wide.
    pub object: Object,
}

/// The format of a function.
#[must_use]
pub fn format(name: &str) -> Option<Format> {
    let plain = plain(name);
    let (of, is_list) = match plain {
        "obstack_vprintf" => ("obstack_printf", true),
        _ => plain.strip_prefix('v').map_or((plain, false), |of| (of, true)),
    };
    let (argument, rw) = match of {
        "printf" | "warn" | "warnx" | "wprintf" => (0, Rw::Read),
        "asprintf" | "dprintf" | "err" | "errx" | "fprintf" | "fwprintf" | "obstack_printf" | "sprintf" | "syslog" => (1, Rw::Read),
        "error" | "snprintf" | "swprintf" => (2, Rw::Read),
        "error_at_line" => (4, Rw::Read),
        "scanf" | "wscanf" => (0, Rw::Write),
        "fscanf" | "fwscanf" | "sscanf" | "swscanf" => (1, Rw::Write),
        _ => return None,
    };
    // The checked variant is told how much it may trust its format, and how long the buffer is where it prints into one.
    let told = match of {
        _ if !name.ends_with("_chk") => 0,
        "sprintf" | "snprintf" | "swprintf" => 2,
        _ => 1,
    };
    let is_wide = of.contains("wprintf") || of.contains("wscanf");
    let object = match (is_list, is_wide) {
        (false, false) => Object::Formatted,
        (false, true) => Object::FormattedWide,
        (true, false) => Object::Arguments,
        (true, true) => Object::ArgumentsWide,
    };
    Some(Format { argument: argument + told, rw, object })
}

/// Which argument of a function that scans is the text from which all comes.
#[must_use]
pub fn scanned(name: &str) -> Option<u8> {
    (plain(name) == "sscanf").then_some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_their_formats_where_variants_have_them() {
        use Object::{Arguments, ArgumentsWide, Formatted, FormattedWide};
        for (names, argument, rw, object) in [
            (&["printf", "warn"][..], 0, Rw::Read, Formatted),
            (&["__printf_chk", "dprintf", "fprintf", "sprintf", "syslog"], 1, Rw::Read, Formatted),
            (&["__asprintf_chk", "__dprintf_chk", "__fprintf_chk", "__syslog_chk", "snprintf"], 2, Rw::Read, Formatted),
            (&["__sprintf_chk"], 3, Rw::Read, Formatted),
            (&["__snprintf_chk", "error_at_line"], 4, Rw::Read, Formatted),
            (&["__isoc99_scanf", "scanf"], 0, Rw::Write, Formatted),
            (&["__isoc23_sscanf", "fscanf"], 1, Rw::Write, Formatted),
            (&["vprintf", "vwarnx"], 0, Rw::Read, Arguments),
            (&["__vprintf_chk", "obstack_vprintf", "vasprintf", "vsprintf", "vsyslog"], 1, Rw::Read, Arguments),
            (&["__obstack_vprintf_chk", "__vfprintf_chk", "vsnprintf"], 2, Rw::Read, Arguments),
            (&["__vsprintf_chk"], 3, Rw::Read, Arguments),
            (&["__vsnprintf_chk"], 4, Rw::Read, Arguments),
            (&["__isoc23_vsscanf", "vfscanf"], 1, Rw::Write, Arguments),
            (&["wprintf"], 0, Rw::Read, FormattedWide),
            (&["__fwprintf_chk", "swprintf"], 2, Rw::Read, FormattedWide),
            (&["__swprintf_chk"], 4, Rw::Read, FormattedWide),
            (&["__isoc99_swscanf", "fwscanf"], 1, Rw::Write, FormattedWide),
            (&["vwprintf"], 0, Rw::Read, ArgumentsWide),
            (&["__vswprintf_chk"], 4, Rw::Read, ArgumentsWide),
            (&["__isoc23_vfwscanf", "vswscanf"], 1, Rw::Write, ArgumentsWide),
        ] {
            for name in names {
                assert_eq!(format(name), Some(Format { argument, rw, object }), "{name}");
            }
        }
        assert_eq!((format("puts"), format("vfork"), scanned("__isoc99_sscanf")), (None, None, Some(0)));
    }
}
