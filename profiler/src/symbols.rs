//! Names of an executable's data, by link-time address: what a lock in a global is called.

use std::path::Path;

use object::{Object, ObjectSymbol, SymbolKind};

use crate::ProfileError;

/// Data symbols, in order of address.
#[derive(Clone, Debug, Default)]
pub struct Symbols(Vec<Symbol>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    address: u64,
    size: u64,
    name: String,
}

impl Symbols {
    /// Reads an executable's symbol table.
    pub fn read(executable: &Path) -> Result<Self, ProfileError> {
        let bytes = std::fs::read(executable).map_err(ProfileError::read(executable))?;
        let file = object::File::parse(&*bytes).map_err(|error| ProfileError::Symbols { path: executable.to_owned(), error })?;
        let data = file.symbols().chain(file.dynamic_symbols()).filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0);
        let mut symbols: Vec<Symbol> = data
            .filter_map(|symbol| Some(Symbol { address: symbol.address(), size: symbol.size(), name: symbol.name().ok()?.to_owned() }))
            .collect();
        symbols.sort();
        symbols.dedup();
        Ok(Self(symbols))
    }

    /// The symbol that contains an address, and the offset in it. Of several the first by name.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<(&str, u64)> {
        let start = self.0.get(self.0.partition_point(|symbol| symbol.address <= address).checked_sub(1)?)?.address;
        let first = self.0.partition_point(|symbol| symbol.address < start);
        let candidates = self.0[first..].iter().take_while(|symbol| symbol.address == start);
        candidates.filter(|symbol| address - symbol.address < symbol.size).map(|symbol| (symbol.name.as_str(), address - start)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_named_by_the_symbol_that_contains_it() {
        let symbol = |address, size, name: &str| Symbol { address, size, name: name.to_owned() };
        let symbols = Symbols(vec![symbol(16, 8, "a"), symbol(32, 40, "b"), symbol(32, 40, "c"), symbol(80, 1, "d")]);
        for (address, expected) in [(15, None), (16, Some(("a", 0))), (24, None), (36, Some(("b", 4))), (80, Some(("d", 0))), (81, None)] {
            assert_eq!(symbols.at(address), expected, "{address}");
        }
    }
}
