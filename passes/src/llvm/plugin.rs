//! The door for LLVM's own tools: `libatomfix_passes.so` (the package in `passes/plugin`) is this, in a shared library.
//!
//! | pass | does |
//! |---|---|
//! | `atomfix-instrument`, `atomfix-instrument<record>` | adds the hooks of `runtime-rt/record` |
//! | `atomfix-instrument<gate>` | adds the hooks of `runtime-rt/gate` |
//! | `atomfix-inject` | injects the plan that `ATOMFIX_PLAN` names, else `MODULE.plan.toml` beside the module |
//!
//! `opt-22 -load-pass-plugin=` takes them in `-passes=`; `clang-22 -fpass-plugin=` and `ld.lld-22 --load-pass-plugin=` run those that
//! `ATOMFIX_PASSES` lists, separated by commas, at the start of their pipeline. A plan can only be injected before hooks: both number the
//! nodes of the module as they find it.
//!
//! Not here: the table of locks, which belongs to a program and not to a module.

use std::collections::BTreeSet;
use std::ffi::{c_char, c_void};
use std::path::PathBuf;

use inkwell::llvm_sys::prelude::LLVMModuleRef;
use model::plan::{PLAN_SCHEMA, Plan};

use super::Module;
use crate::Hooks;
use crate::transform::{Transform, transform_module};

/// `llvm::PassPluginLibraryInfo` of API version 2.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PluginInfo {
    version: u32,
    name: *const c_char,
    plugin_version: *const c_char,
    register: unsafe extern "C" fn(*mut c_void),
    before_code: Option<unsafe extern "C" fn()>,
}

unsafe extern "C" {
    /// `plugin.cpp`: the argument is a `llvm::PassBuilder`.
    fn atomfix_plugin_register(builder: *mut c_void);
}

/// What LLVM's tools look for in a plugin.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PluginInfo {
    PluginInfo {
        version: 2,
        name: c"atomfix".as_ptr(),
        plugin_version: c"1".as_ptr(),
        register: atomfix_plugin_register,
        before_code: None,
    }
}

/// Runs the pass of this name on a module; hands what goes wrong to `fail`.
///
/// # Safety
///
/// `module` is alive and nobody else's, `name` points to `length` bytes, and `fail` takes `context` and a text with its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atomfix_plugin_run(
    module: LLVMModuleRef,
    name: *const c_char,
    length: usize,
    fail: unsafe extern "C" fn(*mut c_void, *const c_char, usize),
    context: *mut c_void,
) {
    // SAFETY: the caller's promise.
    let name = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length) };
    // SAFETY: the caller's promise.
    let module = unsafe { Module::borrowed(module) };
    if let Err(message) = run(module, &String::from_utf8_lossy(name)) {
        // SAFETY: the caller's promise; the text is alive until the call returns.
        unsafe { fail(context, message.as_ptr().cast(), message.len()) }
    }
}

/// Which functions other modules define is not known here.
static OWN: BTreeSet<String> = BTreeSet::new();

fn run(module: Module<'_>, name: &str) -> Result<(), String> {
    let plan;
    let what = match name {
        "atomfix-instrument" | "atomfix-instrument<record>" => Transform { plan: None, hooks: Some(Hooks::Record), own: &OWN },
        "atomfix-instrument<gate>" => Transform { plan: None, hooks: Some(Hooks::Gate), own: &OWN },
        "atomfix-inject" => {
            plan = read_plan(&module.identifier())?;
            Transform { plan: Some(&plan), hooks: None, own: &OWN }
        }
        other => {
            return Err(format!("there is no pass '{other}'; there are atomfix-instrument, atomfix-instrument<gate> and atomfix-inject"));
        }
    };
    transform_module(module, &what).map(drop).map_err(|error| error.to_string())
}

/// The plan for a module of this name.
fn read_plan(module: &str) -> Result<Plan, String> {
    let path = std::env::var_os("ATOMFIX_PLAN").map_or_else(|| PathBuf::from(format!("{module}.plan.toml")), PathBuf::from);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("{}: {error}; name the plan by the environment variable ATOMFIX_PLAN", path.display()))?;
    let plan: Plan = toml::from_str(&text).map_err(|error| format!("{}: not a plan: {error}", path.display()))?;
    if plan.schema == PLAN_SCHEMA { Ok(plan) } else { Err(format!("{}: schema {} is not known", path.display(), plan.schema)) }
}
