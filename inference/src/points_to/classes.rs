//! Classes of memory under unification, with offsets: two forests of weighted union-find.
//!
//! An *object* stands for memory that pointers may point into; a *cell* is an offset in it. Uniting two cells shifts one object against the
//! other, so their fields stay apart; uniting two offsets of one object makes it *whole*: its fields are one from then on. What an
//! object holds is a class of its own, its *contents*, since copying memory unites what is in it and not the memory itself.
//! Every operation is amortized near-constant but for the merging of contents, smaller into larger.

use std::collections::BTreeMap;

/// An object, before `find`: by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectId(pub(super) u32);

/// An offset in an object. Two cells are one if `find` says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) object: ObjectId,
    pub(super) offset: i64,
}

/// How what is called through a pointer is called.
#[derive(Clone, Debug, Default)]
struct Signature {
    parameters: Vec<Cell>,
    result: Option<Cell>,
}

#[derive(Debug)]
struct Object {
    link: Link,
    /// Whether its fields are one.
    whole: bool,
    /// Where its offset 0 lies in its contents.
    contents: Cell,
    signature: Signature,
    /// Functions and globals in it, by the numbers that `mark` was given.
    symbols: Vec<u32>,
}

/// A place in a forest: offset x here is offset x + `shift` in the parent.
#[derive(Clone, Copy, Debug)]
struct Link {
    parent: u32,
    shift: i64,
    size: u32,
}

#[derive(Debug)]
struct Contents {
    link: Link,
    whole: bool,
    /// By offset: where the pointer there points to.
    pointers: BTreeMap<i64, Cell>,
}

/// Both forests.
#[derive(Debug, Default)]
pub(super) struct Classes {
    objects: Vec<Object>,
    contents: Vec<Contents>,
    pending: Vec<(Cell, Cell)>,
}

impl Classes {
    /// A new object, at its start.
    pub(super) fn fresh(&mut self) -> Cell {
        let number = u32::try_from(self.objects.len()).expect("fewer than 2^32 objects");
        let link = Link { parent: number, shift: 0, size: 1 };
        self.contents.push(Contents { link, whole: false, pointers: BTreeMap::new() });
        let cell = Cell { object: ObjectId(number), offset: 0 };
        self.objects.push(Object { link, whole: false, contents: cell, signature: Signature::default(), symbols: Vec::new() });
        cell
    }

    /// The one form of a cell: in its root, at offset 0 if that is whole.
    pub(super) fn find(&mut self, cell: Cell) -> Cell {
        let (root, shift) = find(&mut self.objects, cell.object.0, |object| &mut object.link);
        let whole = self.objects[root as usize].whole;
        Cell { object: ObjectId(root), offset: if whole { 0 } else { cell.offset.wrapping_add(shift) } }
    }

    /// Whether all fields of a cell's object are one.
    pub(super) fn is_whole(&mut self, cell: Cell) -> bool {
        let root = self.find(cell).object;
        self.objects[root.0 as usize].whole
    }

    /// Takes note that a function or global lies in an object.
    pub(super) fn mark(&mut self, cell: Cell, symbol: u32) {
        let root = self.find(cell).object;
        self.objects[root.0 as usize].symbols.push(symbol);
    }

    /// The functions and globals in a cell's object.
    pub(super) fn symbols(&mut self, cell: Cell) -> &[u32] {
        let root = self.find(cell).object;
        &self.objects[root.0 as usize].symbols
    }

    /// Where the pointer in a cell points to.
    pub(super) fn pointee(&mut self, cell: Cell) -> Cell {
        let at = self.find(cell);
        let base = self.objects[at.object.0 as usize].contents;
        let slot = self.find_contents(Cell { offset: base.offset.wrapping_add(at.offset), ..base });
        if let Some(&known) = self.contents[slot.object.0 as usize].pointers.get(&slot.offset) {
            return known;
        }
        let new = self.fresh();
        self.contents[slot.object.0 as usize].pointers.insert(slot.offset, new);
        new
    }

    /// The parameter of what lies in a cell, as something that is called.
    pub(super) fn parameter(&mut self, cell: Cell, index: usize) -> Cell {
        let root = self.find(cell).object.0 as usize;
        while self.objects[root].signature.parameters.len() <= index {
            let new = self.fresh();
            self.objects[root].signature.parameters.push(new);
        }
        self.objects[root].signature.parameters[index]
    }

    /// How many parameters are known of what lies in a cell.
    pub(super) fn parameters(&mut self, cell: Cell) -> usize {
        let root = self.find(cell).object.0 as usize;
        self.objects[root].signature.parameters.len()
    }

    /// The result of what lies in a cell, as something that is called.
    pub(super) fn result(&mut self, cell: Cell) -> Cell {
        let root = self.find(cell).object.0 as usize;
        if let Some(known) = self.objects[root].signature.result {
            return known;
        }
        let new = self.fresh();
        self.objects[root].signature.result = Some(new);
        new
    }

    /// Makes two cells one, and all that follows from it.
    pub(super) fn unite(&mut self, a: Cell, b: Cell) {
        self.pending.push((a, b));
        self.settle();
    }

    /// Makes what two cells hold one, from there on.
    pub(super) fn unite_contents(&mut self, a: Cell, b: Cell) {
        let (a, b) = (self.in_contents(a), self.in_contents(b));
        self.join_contents(a, b);
        self.settle();
    }

    fn settle(&mut self) {
        while let Some((a, b)) = self.pending.pop() {
            self.join(a, b);
        }
    }

    fn in_contents(&mut self, cell: Cell) -> Cell {
        let at = self.find(cell);
        let base = self.objects[at.object.0 as usize].contents;
        Cell { offset: base.offset.wrapping_add(at.offset), ..base }
    }

    fn join(&mut self, a: Cell, b: Cell) {
        let (a, b) = (self.find(a), self.find(b));
        if a.object == b.object {
            if a.offset != b.offset {
                self.make_whole(a.object);
            }
            return;
        }
        let size = |cell: Cell| self.objects[cell.object.0 as usize].link.size;
        let (root, child) = if size(a) >= size(b) { (a, b) } else { (b, a) };
        let shift = root.offset.wrapping_sub(child.offset);
        let gone = &mut self.objects[child.object.0 as usize];
        gone.link = Link { parent: root.object.0, shift, size: gone.link.size };
        let (size, whole) = (gone.link.size, gone.whole);
        let (contents, signature, symbols) = (gone.contents, core::mem::take(&mut gone.signature), core::mem::take(&mut gone.symbols));
        let kept = &mut self.objects[root.object.0 as usize];
        kept.link.size += size;
        let whole = whole || kept.whole;
        if kept.symbols.len() < symbols.len() {
            let few = core::mem::replace(&mut kept.symbols, symbols);
            kept.symbols.extend(few);
        } else {
            kept.symbols.extend(symbols);
        }
        let known = &mut kept.signature;
        self.pending.extend(known.parameters.iter().copied().zip(signature.parameters.iter().copied()));
        self.pending.extend(known.result.zip(signature.result));
        let have = known.parameters.len();
        known.parameters.extend(signature.parameters.into_iter().skip(have));
        known.result = known.result.or(signature.result);
        let base = kept.contents;
        self.join_contents(Cell { offset: base.offset.wrapping_add(shift), ..base }, contents);
        if whole {
            self.make_whole(root.object);
        }
    }

    fn make_whole(&mut self, object: ObjectId) {
        let object = &mut self.objects[object.0 as usize];
        object.whole = true;
        let contents = object.contents;
        let root = self.find_contents(contents).object;
        self.make_contents_whole(root);
    }

    fn find_contents(&mut self, cell: Cell) -> Cell {
        let (root, shift) = find(&mut self.contents, cell.object.0, |contents| &mut contents.link);
        let whole = self.contents[root as usize].whole;
        Cell { object: ObjectId(root), offset: if whole { 0 } else { cell.offset.wrapping_add(shift) } }
    }

    fn join_contents(&mut self, a: Cell, b: Cell) {
        let (a, b) = (self.find_contents(a), self.find_contents(b));
        if a.object == b.object {
            if a.offset != b.offset {
                self.make_contents_whole(a.object);
            }
            return;
        }
        let weight = |cell: Cell| self.contents[cell.object.0 as usize].pointers.len();
        let (root, child) = if weight(a) >= weight(b) { (a, b) } else { (b, a) };
        let shift = root.offset.wrapping_sub(child.offset);
        let gone = &mut self.contents[child.object.0 as usize];
        gone.link = Link { parent: root.object.0, shift, size: gone.link.size };
        let (whole, pointers) = (gone.whole, core::mem::take(&mut gone.pointers));
        let kept = &mut self.contents[root.object.0 as usize];
        let both_whole = whole || kept.whole;
        for (offset, pointer) in pointers {
            let offset = if kept.whole { 0 } else { offset.wrapping_add(shift) };
            if let Some(&known) = kept.pointers.get(&offset) {
                self.pending.push((known, pointer));
            } else {
                kept.pointers.insert(offset, pointer);
            }
        }
        if both_whole {
            self.make_contents_whole(root.object);
        }
    }

    fn make_contents_whole(&mut self, root: ObjectId) {
        let contents = &mut self.contents[root.0 as usize];
        if contents.whole {
            return;
        }
        contents.whole = true;
        let pointers: Vec<Cell> = core::mem::take(&mut contents.pointers).into_values().collect();
        self.pending.extend(pointers.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?))));
        if let Some(&first) = pointers.first() {
            contents.pointers.insert(0, first);
        }
    }
}

/// The root of an element, and the shift of its offsets there. Halves the paths that it walks.
fn find<T>(forest: &mut [T], from: u32, link: impl Fn(&mut T) -> &mut Link) -> (u32, i64) {
    let (mut at, mut shift) = (from, 0_i64);
    loop {
        let here = *link(&mut forest[at as usize]);
        if here.parent == at {
            return (at, shift);
        }
        let above = *link(&mut forest[here.parent as usize]);
        if above.parent != here.parent {
            *link(&mut forest[at as usize]) = Link { parent: above.parent, shift: here.shift.wrapping_add(above.shift), ..here };
        }
        let here = *link(&mut forest[at as usize]);
        shift = shift.wrapping_add(here.shift);
        at = here.parent;
    }
}
