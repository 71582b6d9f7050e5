//! What a fiber does at a scheduling point: it says what it wants, leaves, and comes back when that was granted.
//!
//! The parts of this are inlined where requests are made, all but the last: a request is written once, in the model, where it is read.

use super::circle;
use super::control;
use super::fiber::{Engine, Fiber, Stop};
use super::habits::Habit;
use super::interrupts;
use super::lifetime;
use crate::gate::ask::{Ask, Request};
use crate::gate::model::{Model, Spurious};
use crate::gate::thread::{Hope, Way};
use crate::interpose::once;
use explorer::races::Party;
use explorer::target::page::Note;
use model::event::Range;
use model::ids::{SiteKey, ThreadId};

impl Engine {
    /// In a fiber: the site that the code has announced for its next modelled call.
    #[inline]
    pub(crate) fn take_site(&self) -> Option<SiteKey> {
        self.with_current(|fiber| fiber.call_site.take())
    }

    /// In a fiber: a scheduling point. Returns when the request was granted and performed in the model: its result.
    #[inline(always)]
    pub(crate) fn point(&self, ask: Ask) -> i32 {
        self.point_at(self.take_site(), ask)
    }

    /// As `point`, for code that stands there.
    #[inline(always)]
    pub(crate) fn point_at(&self, site: Option<SiteKey>, ask: Ask) -> i32 {
        self.request(self.current(), Request { ask, site })
    }

    /// As `point`, with all of it given.
    #[inline(always)]
    pub(crate) fn request(&self, me: ThreadId, request: Request) -> i32 {
        self.put(me, request);
        if self.habits.has(Habit::Interrupts) {
            return interrupts::request(self, me);
        }
        self.ask_once(me)
    }

    /// As `request`, of a thread that nobody interrupts before.
    #[inline]
    pub(super) fn request_once(&self, me: ThreadId, request: Request) -> i32 {
        self.put(me, request);
        self.ask_once(me)
    }

    /// Writes down what is requested. Part of its callers, so that it is written to where it is read: the processor waits where what was
    /// written in parts is copied as a whole.
    #[inline(always)]
    fn put(&self, me: ThreadId, request: Request) {
        if self.with_current(|fiber| !fiber.once.borrow().is_empty()) {
            let here = 0_u8;
            once::leave_abandoned(self, (&raw const here).expose_provenance());
        }
        let may_end = request.ask.has_time_limit()
            || (matches!(request.ask, Ask::Waiting { .. }) && self.model.borrow().spurious == Spurious::Possible);
        self.model.borrow_mut().threads[me.index()].request = request;
        if may_end {
            let here = 0_u8;
            self.note_place(me, (&raw const here).expose_provenance());
        }
    }

    /// A wait that may end by itself is about to begin: where, of which the frame is the newest.
    #[inline(never)]
    fn note_place(&self, me: ThreadId, frame: usize) {
        let (place, repeats) = self.with_current(|fiber| (circle::callers(fiber, frame), fiber.circle.borrow().repeats()));
        let entry = &mut self.model.borrow_mut().threads[me.index()];
        (entry.place, entry.repeats, entry.heeds_others) = (place, repeats, self.habits.has(Habit::Interrupts));
    }

    /// Asks for what was written down, and looks at what it was about.
    #[inline]
    fn ask_once(&self, me: ThreadId) -> i32 {
        let reply = self.ask(me);
        lifetime::look_at_object(self, me);
        reply
    }

    /// As `request`, of an access, which is what is asked for most: nobody waits for it, and it names no object.
    #[inline(always)]
    pub(crate) fn request_access(&self, fiber: &Fiber, range: Range, party: Party) {
        let Party { thread: me, site, rw, atomic } = party;
        if self.habits.has(Habit::Interrupts) || !fiber.once.borrow().is_empty() {
            self.request(me, Request { ask: Ask::Access { range, rw, atomic }, site: Some(site) });
            return;
        }
        let circle = fiber.circle.borrow_mut().take();
        {
            let mut model = self.model.borrow_mut();
            model.publish_access(me, range, rw, atomic, Some(site));
            if let Some((hope, way)) = circle {
                self.goes_in_circle(&mut model, me, hope, way);
            } else if model.is_last() && !self.tells_all.get() {
                let event = model.event(me);
                model.perform(me, &event, &mut |_| 0);
                self.note_step(me, &event);
                return;
            }
        }
        self.leave(Stop::Point);
        self.show_to_debugger();
    }

    /// In a fiber: asks for what it has said that it wants.
    #[inline(never)]
    fn ask(&self, me: ThreadId) -> i32 {
        let circle = self.with_current(|fiber| fiber.circle.borrow_mut().take());
        lifetime::note_object(self, me);
        {
            // The model asks the kernel what calls would wait for.
            let ran = self.suspend();
            let mut model = self.model.borrow_mut();
            model.publish(me);
            if let Ask::Call { ready, .. } = model.threads[me.index()].request.ask {
                // Not before, as others may have come between: who may be interrupted has looked for that first.
                self.supplies.is_awaited(ready);
            }
            if let Some((hope, way)) = circle {
                self.goes_in_circle(&mut model, me, hope, way);
            }
            let alone = model.is_last() && circle.is_none() && !self.tells_all.get();
            if alone && may_be_silent(&model.threads[me.index()].request.ask) && model.enabled().contains(me) {
                // Nobody else lives, or could have come later: no choice, nothing for a schedule to say.
                let event = model.event(me);
                let result = model.perform(me, &event, &mut |_| 0);
                self.note_step(me, &event);
                self.go_on(ran);
                return result;
            }
            self.go_on(ran);
        }
        let reply = self.leave(Stop::Point);
        self.show_to_debugger();
        reply
    }

    #[inline]
    fn show_to_debugger(&self) {
        if self.stop_at.get().is_some() {
            super::debugger::stop_if_there(self);
        }
    }

    #[cold]
    fn goes_in_circle(&self, model: &mut Model, me: ThreadId, hope: Hope, way: Way) {
        model.goes_in_circle(me, hope, way);
        match hope {
            Hope::Luck => control::note(Note::Luck),
            // Nothing is lost where nobody else could go on.
            Hope::Time if model.found_enabled().iter().any(|other| other != me) => control::note(Note::LateTime),
            Hope::Time | Hope::None => {}
        }
    }
}

/// Whether the request of the only thread needs no step of its own. Creation, ends and joins always have one, as strategies
/// order threads by them; time passing has one so that it counts against the step limit.
fn may_be_silent(ask: &Ask) -> bool {
    !matches!(
        ask,
        Ask::Start
            | Ask::Exit
            | Ask::ExitProcess
            | Ask::Create { .. }
            | Ask::Join { .. }
            | Ask::Yield
            | Ask::Sleep { .. }
            | Ask::Waiting { .. }
    )
}
