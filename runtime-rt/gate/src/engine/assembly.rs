//! Assembly that cannot be controlled: it is named in the result.

use model::abi::{ASSEMBLY_NUMBERS, ASSEMBLY_UNSEEN};
use model::ids::SiteKey;

use explorer::target::page::Note;

use super::fiber::Engine;
use super::{control, explore, signals};

impl Engine {
    /// In a fiber: assembly is about to run that cannot be controlled. The site stands for its source position, which `atomfix` knows.
    pub(crate) fn name_assembly(&self, what: u32, site: SiteKey) {
        if self.hangs.get() {
            signals::end_hanging(self);
        }
        self.with_current(|fiber| fiber.last_site.set(Some(site)));
        if what != ASSEMBLY_NUMBERS && !self.model.borrow().is_last() {
            control::note(Note::Assembly);
        }
        let ran = self.suspend();
        if self.assembly.borrow_mut().insert(site) {
            let what = match what {
                ASSEMBLY_NUMBERS => "random numbers by instruction differ from execution to execution:",
                ASSEMBLY_UNSEEN => "assembly reads or writes memory that no operand names, which is not seen:",
                _ => "assembly synchronizes through memory that no operand names, in orders that are not explored:",
            };
            explore::remark(&alloc::format!("{what} {site}"));
        }
        self.go_on(ran);
    }
}
