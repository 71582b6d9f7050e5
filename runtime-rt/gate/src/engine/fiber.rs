//! The engine's one instance, its fibers, and the ways between them.
//!
//! Everything is in the engine's arena and accessed through cells: one OS thread, so no two parts run at a time. No cell
//! stays borrowed over a switch.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use model::ids::{SiteKey, ThreadId};

use super::circle::Circle;
use super::control;
use super::failure::Failed;
use super::habits::Habits;
use super::kept::Kept;
use super::leftovers::Leftovers;
use super::lenders::{EXTRA, Lender};
use super::lifetime::Lifetimes;
use super::output::Printed;
use super::outsiders::Outsiders;
use super::own_variables::OwnVariables;
use super::pieces::Pieces;
use super::recorder::Recorder;
use super::restore::Restorer;
use super::rounds::Rounds;
use super::several::TakesSeveral;
use super::signals::{Fault, Refuges};
use super::streams::Streams;
use super::supplies::Supplies;
use super::thread_names::Told;
use super::timers::Timers;
use super::unseen::Unseen;
use crate::gate::model::Model;
use crate::gate::shadow::Shadow;
use crate::gate::thread::Hope;
use crate::interpose::named::Names;
use crate::interpose::once::Running;
use crate::sys::switch::{StackPointer, TlsBase, set_tls_base, swap};
use explorer::races::{Race, Races};
use model::event::Range;

/// A thread's routine and its argument.
#[derive(Clone, Copy)]
pub(crate) struct Routine {
    /// What it runs.
    pub(crate) function: extern "C" fn(*mut c_void) -> *mut c_void,
    /// With what.
    pub(crate) argument: *mut c_void,
}

/// A destructor of a thread-local variable.
#[derive(Clone, Copy)]
pub(crate) struct Destructor {
    /// What it runs.
    pub(crate) function: extern "C" fn(*mut c_void),
    /// On what.
    pub(crate) object: *mut c_void,
}

/// A program thread.
pub(crate) struct Fiber {
    /// Where it stands while it does not run.
    pub(crate) stack: Cell<StackPointer>,
    /// Its TLS block.
    pub(crate) tls: TlsBase,
    /// Its identity for the C library.
    pub(crate) identity: libc::pthread_t,
    /// What it runs; `None` for the initial thread.
    pub(crate) routine: Option<Routine>,
    /// What it returned.
    pub(crate) result: Cell<*mut c_void>,
    /// Whether it was joined or detached, so that its identity means nothing any more.
    pub(crate) forgotten: Cell<bool>,
    /// How many accesses it has made.
    pub(crate) accesses: Cell<u64>,
    /// The number of the access that it asks for, if that is what it asks for.
    pub(crate) asks_for: Cell<Option<u64>>,
    /// Where its next modelled call stands.
    pub(crate) call_site: Cell<Option<SiteKey>>,
    /// The last site it passed.
    pub(crate) last_site: Cell<Option<SiteKey>>,
    /// The end of its stack: where it began.
    pub(crate) base: usize,
    /// As in [`Lender`].
    floor: usize,
    /// What the kernel would keep of it by its word.
    pub(crate) told: Told,
    /// Whether it goes round in a circle.
    pub(crate) circle: RefCell<Circle>,
    /// A hash of its stack at the last place that it passed, when states are looked at.
    pub(crate) stood: Cell<u64>,
    /// Routines of `once` that it runs, the newest last.
    pub(crate) once: RefCell<Vec<Running>>,
    /// Destructors of its thread-local variables, in order of registration.
    pub(crate) destructors: RefCell<Vec<Destructor>>,
    /// What its calls have read.
    pub(crate) kept: Kept,
    /// Whether it takes several locks at once, and since when.
    pub(crate) takes_several: TakesSeveral,
}

impl Fiber {
    /// A fiber that begins with `routine`, on what a parked thread lends.
    pub(crate) fn new(stack: StackPointer, lender: Lender, routine: Option<Routine>) -> Self {
        Self {
            stack: Cell::new(stack),
            tls: lender.tls,
            identity: lender.identity,
            routine,
            result: Cell::new(core::ptr::null_mut()),
            forgotten: Cell::new(false),
            accesses: Cell::new(0),
            asks_for: Cell::new(None),
            call_site: Cell::new(None),
            last_site: Cell::new(None),
            base: lender.stack,
            floor: lender.floor,
            told: Told::default(),
            circle: RefCell::default(),
            stood: Cell::new(0),
            once: RefCell::default(),
            destructors: RefCell::default(),
            kept: Kept::default(),
            takes_several: TakesSeveral::default(),
        }
    }

    /// As `new`, in the memory of a fiber of an earlier execution.
    pub(crate) fn renew(&mut self, stack: StackPointer, lender: Lender, routine: Option<Routine>) {
        let Self { circle, once, destructors, kept, takes_several, .. } = self;
        circle.get_mut().begin();
        kept.begin();
        *takes_several = TakesSeveral::default();
        once.get_mut().clear();
        destructors.get_mut().clear();
        self.stack.set(stack);
        (self.tls, self.identity, self.base, self.floor) = (lender.tls, lender.identity, lender.stack, lender.floor);
        self.routine = routine;
        self.result.set(core::ptr::null_mut());
        self.forgotten.set(false);
        self.accesses.set(0);
        self.asks_for.set(None);
        self.call_site.set(None);
        self.last_site.set(None);
        self.stood.set(0);
        self.told = Told::default();
    }

    /// It comes to an access: the number.
    #[inline]
    pub(crate) fn count_access(&self) -> u64 {
        let ordinal = self.accesses.get() + 1;
        self.accesses.set(ordinal);
        ordinal
    }

    /// Asks for the access with this number. Handlers of signals may come before, and ask for their own.
    #[inline(always)]
    pub(crate) fn ask_for(&self, ordinal: u64, ask: impl FnOnce()) {
        let before = self.asks_for.replace(Some(ordinal));
        ask();
        self.asks_for.set(before);
    }

    /// Whether its stack has no room left at this frame. One that is far from it is of a stack that the program made.
    #[inline]
    pub(crate) fn is_full(&self, frame: usize) -> bool {
        self.floor.wrapping_sub(frame) < EXTRA
    }

    /// Whether this frame is on its stack, and not on one that the program made.
    #[inline]
    pub(crate) fn has(&self, frame: usize) -> bool {
        (self.floor..self.base).contains(&frame)
    }

    /// Whether memory lies on its stack, which begins with this frame.
    #[inline]
    pub(crate) fn is_on_stack(&self, frame: usize, range: Range) -> bool {
        (frame as u64..self.base as u64).contains(&range.address) && self.has(frame)
    }

    /// It has taken a step, within a call perhaps that takes several: without passing another place it does not stand where it stood.
    pub(crate) fn leave_place(&self) {
        self.stood.set(self.stood.get().wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1));
    }
}

/// Why a fiber went back to the engine.
pub(crate) enum Stop {
    /// It is at a scheduling point, or has ended.
    Point,
    /// The process ends with this status.
    Exited(i32),
    /// Something went wrong.
    Failed(Failed),
    /// There is no parked thread left to lend its stack.
    NeedLenders,
    /// The program has shown a habit that calls for other scheduling points.
    Learnt,
    /// The program does what the restore driver cannot undo.
    NeedFork(&'static str),
}

/// How the program's `main` is called.
#[derive(Clone, Copy)]
pub(crate) struct Main {
    /// It.
    pub(crate) function: extern "C" fn(i32, *mut *mut libc::c_char, *mut *mut libc::c_char) -> i32,
    /// `argc`.
    pub(crate) count: i32,
    /// `argv`.
    pub(crate) arguments: *mut *mut libc::c_char,
    /// `envp`.
    pub(crate) environment: *mut *mut libc::c_char,
}

/// The engine.
pub(crate) struct Engine {
    /// The program.
    pub(crate) main: Cell<Main>,
    /// The initial thread's own TLS block and stack.
    pub(crate) initial: Cell<Lender>,
    /// Some address of the engine's own stack.
    pub(crate) own_stack: Cell<usize>,
    /// Where the engine stands while a fiber runs.
    home: Cell<StackPointer>,
    /// Who runs, or ran last.
    current: Cell<ThreadId>,
    /// Its fiber: null before the first.
    current_fiber: Cell<*const Fiber>,
    /// Whether a fiber runs: whether interposed functions are called by the program, not by the engine. In memory that is the
    /// process's own: children that the program forks would share the engine's.
    active: &'static Cell<bool>,
    /// Whose TLS block is in place.
    tls: Cell<TlsBase>,
    /// By `ThreadId`.
    #[expect(clippy::vec_box, reason = "a fiber leaves its stack pointer in its own memory, which must not move")]
    pub(crate) fibers: RefCell<Vec<Box<Fiber>>>,
    /// Those of earlier executions, whose memory is used again. None is ever freed.
    #[expect(clippy::vec_box, reason = "as above")]
    pub(crate) spare: RefCell<Vec<Box<Fiber>>>,
    /// Timers that are descriptors.
    pub(crate) timers: RefCell<Timers>,
    /// What it has done that no step tells of.
    pub(crate) unseen: Unseen,
    /// How long its variables are.
    pub(crate) own_variables: OwnVariables,
    /// What its calls left nothing of.
    pub(crate) supplies: Supplies,
    /// What it has made in the kernel that would stay.
    pub(crate) leftovers: Leftovers,
    /// Semaphores with a name.
    pub(crate) names: RefCell<Names>,
    /// What needs more points than usual.
    pub(crate) habits: Habits,
    /// Accesses that are several.
    pub(crate) pieces: Pieces,
    /// Parked threads.
    pub(crate) lenders: RefCell<Vec<Lender>>,
    /// The state of the execution.
    pub(crate) model: RefCell<Model>,
    /// Which memory is shared.
    pub(crate) shadow: RefCell<Shadow>,
    /// What happened so far in it.
    pub(crate) recorder: RefCell<Recorder>,
    /// Who is ordered before whom, when data races are looked for.
    pub(crate) races: RefCell<Option<Races>>,
    /// Whether they are: asked at each access.
    pub(crate) looks_for_races: Cell<bool>,
    /// The data races of the current execution.
    pub(crate) found_races: RefCell<Vec<Race>>,
    /// What the execution has freed.
    pub(crate) lifetimes: Lifetimes,
    /// What the restore driver puts back.
    pub(crate) restorer: Restorer,
    /// What the execution has printed, as far as it is kept in memory.
    pub(crate) printed: Printed,
    /// What is known of functions outside the program.
    pub(crate) outsiders: Outsiders,
    /// The streams that all threads may use.
    pub(crate) streams: Streams,
    /// Assembly that was named in the result.
    pub(super) assembly: RefCell<BTreeSet<SiteKey>>,
    /// Whether all threads together go round.
    pub(crate) rounds: Rounds,
    /// What the step that is being taken overwrites in memory, if that is a word.
    pub(crate) overwritten: Cell<Option<u64>>,
    /// After how many steps a debugger is told to stop.
    pub(crate) stop_at: Cell<Option<u64>>,
    /// Whether steps without a choice are told to the strategy too.
    pub(crate) tells_all: Cell<bool>,
    /// Whether the process was asked to end the execution while a hook was at work, which then does so at its next beginning.
    pub(crate) hangs: Cell<bool>,
    /// What the fiber dies of which runs next.
    pub(crate) fault: Cell<Fault>,
    /// Stacks for those whose own has no room left.
    pub(crate) refuges: RefCell<Refuges>,
    /// Why the fiber that ran last stopped, if not at a point.
    stop: RefCell<Option<Stop>>,
    /// Where the execution's random numbers have got to.
    pub(crate) entropy: Cell<u64>,
    /// What the model answers to the request of the fiber that runs next.
    reply: Cell<i32>,
}

static ENGINE: AtomicPtr<Engine> = AtomicPtr::new(core::ptr::null_mut());

/// The engine, when a fiber of it runs: `None` before `main`, without control, and in the engine itself.
#[inline]
pub(crate) fn running() -> Option<&'static Engine> {
    installed().filter(|engine| engine.active.get())
}

/// The engine.
#[inline]
pub(crate) fn installed() -> Option<&'static Engine> {
    // SAFETY: set once, to a leaked box, or to null.
    unsafe { ENGINE.load(Relaxed).as_ref() }
}

/// Takes the engine away: a child that the program forks runs without control.
pub(crate) fn uninstall() {
    ENGINE.store(core::ptr::null_mut(), Relaxed);
}

impl Engine {
    /// Makes the engine and keeps it for ever.
    pub(crate) fn install(main: Main, initial: Lender, active: &'static Cell<bool>) -> &'static Self {
        let engine = Box::leak(Box::new(Self {
            main: Cell::new(main),
            initial: Cell::new(initial),
            stop_at: Cell::new(None),
            own_stack: Cell::new(0),
            home: Cell::new(StackPointer(0)),
            current: Cell::new(ThreadId(0)),
            current_fiber: Cell::new(core::ptr::null()),
            active,
            tls: Cell::new(initial.tls),
            fibers: RefCell::default(),
            spare: RefCell::default(),
            names: RefCell::default(),
            timers: RefCell::default(),
            unseen: Unseen::default(),
            own_variables: OwnVariables::default(),
            supplies: Supplies::default(),
            leftovers: Leftovers::default(),
            habits: Habits::default(),
            pieces: Pieces::default(),
            lenders: RefCell::default(),
            model: RefCell::default(),
            shadow: RefCell::default(),
            recorder: RefCell::default(),
            races: RefCell::default(),
            looks_for_races: Cell::new(false),
            found_races: RefCell::default(),
            lifetimes: Lifetimes::default(),
            printed: Printed::default(),
            outsiders: Outsiders::default(),
            streams: Streams::default(),
            assembly: RefCell::default(),
            rounds: Rounds::default(),
            overwritten: Cell::default(),
            restorer: Restorer::default(),
            tells_all: Cell::new(false),
            hangs: Cell::new(false),
            fault: Cell::new(Fault::Stack),
            refuges: RefCell::default(),
            stop: RefCell::default(),
            entropy: Cell::new(0),
            reply: Cell::new(0),
        }));
        ENGINE.store(engine, Relaxed);
        engine
    }

    /// Who runs.
    #[inline]
    pub(crate) fn current(&self) -> ThreadId {
        self.current.get()
    }

    /// Looks at the fiber that runs, or ran last.
    #[inline]
    pub(crate) fn with_current<T>(&self, look: impl FnOnce(&Fiber) -> T) -> T {
        // SAFETY: a fiber has run, and fibers are boxed and kept for ever, in use or spare; nobody else looks at it now.
        look(unsafe { &*self.current_fiber.get() })
    }

    /// The byte that tells whether a fiber runs: 1 dispatches system calls to us, 0 lets them through.
    pub(crate) fn active_address(&self) -> usize {
        self.active.as_ptr().expose_provenance()
    }

    /// In a signal handler: what it does is the engine's doing. Whether a fiber ran.
    pub(crate) fn suspend(&self) -> bool {
        self.active.replace(false)
    }

    /// At the end of a signal handler: as it was.
    pub(crate) fn go_on(&self, ran: bool) {
        self.active.set(ran);
    }

    /// In the engine: lets a fiber run until it comes back. `reply` is what its request is answered with.
    #[inline(always)]
    pub(crate) fn resume(&self, thread: ThreadId, reply: i32) -> Stop {
        let (stack, tls) = {
            let fibers = self.fibers.borrow();
            let fiber = &*fibers[thread.index()];
            self.current_fiber.set(&raw const *fiber);
            (fiber.stack.get(), fiber.tls)
        };
        self.reply.set(reply);
        self.current.set(thread);
        self.put_in_place(tls);
        self.hangs.set(false);
        self.active.set(true);
        // SAFETY: the fiber stands there, and nobody else goes on from it.
        unsafe { swap(self.home.as_ptr(), stack) };
        self.active.set(false);
        self.stop.take().unwrap_or(Stop::Point)
    }

    /// In the engine, after an execution: the initial thread again, with its TLS block, whose thread the kernel thinks we are.
    pub(crate) fn come_home(&self) {
        self.active.set(false);
        self.put_in_place(self.initial.get().tls);
        self.current.set(ThreadId(0));
    }

    #[inline]
    fn put_in_place(&self, tls: TlsBase) {
        if self.tls.replace(tls) != tls {
            // SAFETY: it is the block of a parked thread or of the initial one.
            unsafe { set_tls_base(tls) };
        }
    }

    /// In a fiber: goes to the engine, and comes back when the engine resumes it.
    #[inline(always)]
    pub(super) fn leave(&self, stop: Stop) -> i32 {
        self.active.set(false);
        if !matches!(stop, Stop::Point) {
            *self.stop.borrow_mut() = Some(stop);
        }
        let own = self.with_current(|fiber| fiber.stack.as_ptr());
        // SAFETY: the engine stands at `home`, and the fiber is boxed: its cell does not move.
        unsafe { swap(own, self.home.get()) };
        self.reply.get()
    }

    /// In a fiber: goes to the engine for good.
    pub(crate) fn leave_for_good(&self, stop: Stop) -> ! {
        self.leave(stop);
        control::broken("a fiber that had ended was resumed")
    }

    /// In a fresh process that goes on with another one's work: the engine is here now.
    pub(crate) fn move_in(&'static self, main: Main, initial: Lender) {
        self.main.set(main);
        self.initial.set(initial);
        self.tls.set(initial.tls);
        ENGINE.store((&raw const *self).cast_mut(), Relaxed);
    }
}

impl Engine {
    /// In a fiber: the thread looks at what may end its circle, and will not look the same again.
    pub(crate) fn hope(&self, hope: Hope) {
        self.with_current(|fiber| fiber.circle.borrow_mut().hope(hope));
        self.rounds.look();
    }
}
