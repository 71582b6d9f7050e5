//! Modules: reading bitcode, walking, running a pass pipeline, verifying, writing.

use std::ffi::CString;
use std::marker::PhantomData;

use inkwell::context::Context;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef, LLVMValueRef};
use inkwell::llvm_sys::{analysis, bit_reader, core, error, ir_reader, linker, target, transforms::pass_builder};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module as Owned;

use super::handles::{Function, Type, Value};
use super::reading::CONSTRUCTORS;
use crate::PassError;

/// A live module.
#[derive(Clone, Copy)]
pub(crate) struct Module<'m> {
    pub(super) raw: LLVMModuleRef,
    pub(super) context: LLVMContextRef,
    owner: PhantomData<&'m ()>,
}

/// Reads bitcode into a context of its own and lets `work` have it.
pub(crate) fn with_module<R>(bitcode: &[u8], work: impl for<'m> FnOnce(Module<'m>) -> Result<R, PassError>) -> Result<R, PassError> {
    let context = Context::create();
    let name = c"atomfix";
    // SAFETY: the range is readable, and LLVM copies it.
    let copy = unsafe { core::LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode.as_ptr().cast(), bitcode.len(), name.as_ptr()) };
    // SAFETY: a fresh buffer that nobody else owns.
    let buffer = unsafe { MemoryBuffer::new(copy) };
    let owned = Owned::parse_bitcode_from_buffer(&buffer, &context)
        .map_err(|message| PassError::Unreadable { message: message.to_string_lossy().into_owned() })?;
    work(Module::of(&owned, &context))
}

/// The names of the functions that bitcode defines, and of aliases. Their bodies are not read.
pub(crate) fn defined(bitcode: &[u8]) -> Result<Vec<String>, PassError> {
    let context = Context::create();
    // SAFETY: the range is readable, and LLVM copies it.
    let buffer = unsafe { core::LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode.as_ptr().cast(), bitcode.len(), c"atomfix".as_ptr()) };
    let mut raw = std::ptr::null_mut();
    // SAFETY: a fresh buffer, which the module takes over, also where it cannot be read.
    if unsafe { bit_reader::LLVMGetBitcodeModuleInContext2(context.raw(), buffer, &raw mut raw) } != 0 {
        return Err(PassError::Unreadable { message: "it is no module".to_owned() });
    }
    // SAFETY: a fresh module of this context that nobody else owns.
    let owned = unsafe { Owned::new(raw) };
    let module = Module::of(&owned, &context);
    let functions = module.functions().filter(|function| function.is_defined()).map(Function::name);
    Ok(functions.chain(module.aliases().map(Value::name)).collect())
}

/// Makes an empty module for x86-64 Linux and lets `work` fill it.
pub(crate) fn with_new_module<R>(name: &str, work: impl for<'m> FnOnce(Module<'m>) -> Result<R, PassError>) -> Result<R, PassError> {
    let context = Context::create();
    let owned = context.create_module(name);
    let module = Module::of(&owned, &context);
    let triple = c"x86_64-pc-linux-gnu";
    llvm!(core::LLVMSetTarget(module.raw, triple.as_ptr()));
    let layout = c"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";
    llvm!(core::LLVMSetDataLayout(module.raw, layout.as_ptr()));
    work(module)
}

impl<'m> Module<'m> {
    fn of(owned: &'m Owned<'_>, context: &'m Context) -> Self {
        Self { raw: owned.as_mut_ptr(), context: context.raw(), owner: PhantomData }
    }

    /// The handle of a module that somebody else made.
    ///
    /// # Safety
    ///
    /// It is alive and nobody else uses it throughout `'m`.
    pub(super) unsafe fn borrowed(raw: LLVMModuleRef) -> Self {
        Self { raw, context: llvm!(core::LLVMGetModuleContext(raw)), owner: PhantomData }
    }

    /// What LLVM calls it: the file that it was read from, as a rule.
    pub(crate) fn identifier(self) -> String {
        let mut length = 0;
        let data = llvm!(core::LLVMGetModuleIdentifier(self.raw, &raw mut length));
        super::shim::Text { data, size: length }.to_text().unwrap_or_default()
    }

    /// The source path, as the compiler was given it.
    pub(crate) fn source_name(self) -> String {
        let mut length = 0;
        let data = llvm!(core::LLVMGetSourceFileName(self.raw, &raw mut length));
        super::shim::Text { data, size: length }.to_text().unwrap_or_default()
    }

    /// All functions, declarations included, in order.
    pub(crate) fn functions(self) -> impl Iterator<Item = Function<'m>> {
        std::iter::successors(Function::maybe(llvm!(core::LLVMGetFirstFunction(self.raw))), |function| {
            Function::maybe(llvm!(core::LLVMGetNextFunction(function.raw)))
        })
    }

    /// All aliases, in order.
    pub(crate) fn aliases(self) -> impl Iterator<Item = Value<'m>> {
        std::iter::successors(Value::maybe(llvm!(core::LLVMGetFirstGlobalAlias(self.raw))), |alias| {
            Value::maybe(llvm!(core::LLVMGetNextGlobalAlias(alias.raw)))
        })
    }

    /// All global variables, in order.
    pub(crate) fn globals(self) -> impl Iterator<Item = Value<'m>> {
        std::iter::successors(Value::maybe(llvm!(core::LLVMGetFirstGlobal(self.raw))), |global| {
            Value::maybe(llvm!(core::LLVMGetNextGlobal(global.raw)))
        })
    }

    /// The functions that run before `main`: constructors, and those that resolve ifuncs.
    pub(crate) fn constructors(self) -> Vec<Value<'m>> {
        const SECTIONS: [&str; 3] = [".preinit_array", ".init_array", ".ctors"];
        let is_list = |global: &Value<'m>| {
            let section = global.section();
            global.name() == CONSTRUCTORS || SECTIONS.iter().any(|name| section.starts_with(name))
        };
        let lists = self.globals().filter(is_list).filter_map(Value::initializer);
        lists.flat_map(Value::functions_within).chain(self.resolvers()).collect()
    }

    /// The functions that resolve ifuncs.
    pub(crate) fn resolvers(self) -> Vec<Value<'m>> {
        std::iter::successors(Value::maybe(llvm!(core::LLVMGetFirstGlobalIFunc(self.raw))), |ifunc| {
            Value::maybe(llvm!(core::LLVMGetNextGlobalIFunc(ifunc.raw)))
        })
        .filter_map(|ifunc| Value::maybe(llvm!(core::LLVMGetGlobalIFuncResolver(ifunc.raw))))
        .collect()
    }

    /// The function or declaration of this name.
    pub(crate) fn function(self, name: &str) -> Option<Function<'m>> {
        let raw = llvm!(core::LLVMGetNamedFunctionWithLength(self.raw, name.as_ptr().cast(), name.len()));
        Function::maybe(raw)
    }

    /// Bytes that a store of this type writes.
    pub(crate) fn store_size(self, ty: Type<'m>) -> u64 {
        let layout = llvm!(target::LLVMGetModuleDataLayout(self.raw));
        llvm!(target::LLVMStoreSizeOfType(layout, ty.raw))
    }

    /// Where a field of a record type begins, in bytes; 0 for one that it does not have.
    pub(crate) fn field_offset(self, record: Type<'m>, field: u32) -> i64 {
        if field >= record.field_count() {
            return 0;
        }
        let layout = llvm!(target::LLVMGetModuleDataLayout(self.raw));
        i64::try_from(llvm!(target::LLVMOffsetOfElement(layout, record.raw, field))).unwrap_or(0)
    }

    /// Runs a pipeline as `opt -passes=` names it. Functions marked `optnone` are passed over.
    pub(crate) fn run_passes(self, pipeline: &str) -> Result<(), PassError> {
        let text = CString::new(pipeline).map_err(|_| PassError::Internal { what: "a zero in a pipeline".to_owned() })?;
        // SAFETY: makes fresh options.
        let options = unsafe { pass_builder::LLVMCreatePassBuilderOptions() };
        let failure = llvm!(pass_builder::LLVMRunPasses(self.raw, text.as_ptr(), std::ptr::null_mut(), options));
        // SAFETY: made above, used no more.
        unsafe { pass_builder::LLVMDisposePassBuilderOptions(options) };
        if failure.is_null() {
            return Ok(());
        }
        // SAFETY: takes the error over and gives its message, to be freed below.
        let message = unsafe { error::LLVMGetErrorMessage(failure) };
        let what = format!("LLVM does not run '{pipeline}': {}", super::reading::c_text(message));
        // SAFETY: made above, used no more.
        unsafe { error::LLVMDisposeErrorMessage(message) };
        Err(PassError::Internal { what })
    }

    /// Checks the module; an invalid one is our bug, and the error names the function.
    pub(crate) fn verify(self) -> Result<(), PassError> {
        let mut message = std::ptr::null_mut();
        let action = analysis::LLVMVerifierFailureAction::LLVMReturnStatusAction;
        let broken = llvm!(analysis::LLVMVerifyModule(self.raw, action, &raw mut message)) != 0;
        let text = super::reading::c_text(message);
        // SAFETY: LLVM allocated the message for us; used no more.
        unsafe { core::LLVMDisposeMessage(message) };
        if !broken {
            return Ok(());
        }
        let function = self.functions().find(|function| {
            let action = analysis::LLVMVerifierFailureAction::LLVMReturnStatusAction;
            llvm!(analysis::LLVMVerifyFunction(function.raw, action)) != 0
        });
        Err(PassError::Invalid { function: function.map_or_else(|| "(module)".to_owned(), Function::name), message: text })
    }

    /// The module as bitcode.
    pub(crate) fn bitcode(self) -> Vec<u8> {
        let raw = llvm!(inkwell::llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer(self.raw));
        // SAFETY: a fresh buffer that nobody else owns.
        let buffer = unsafe { MemoryBuffer::new(raw) };
        let start = llvm!(core::LLVMGetBufferStart(raw));
        let size = llvm!(core::LLVMGetBufferSize(raw));
        // SAFETY: the buffer holds `size` bytes from `start` on and is alive until the end of this function.
        let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), size) }.to_vec();
        drop(buffer);
        bytes
    }

    /// A declared or defined global variable's handle, made when missing.
    pub(crate) fn global(self, name: &str, ty: Type<'m>) -> Value<'m> {
        let name = CString::new(name).expect("names of ours hold no zero");
        let known: LLVMValueRef = llvm!(core::LLVMGetNamedGlobal(self.raw, name.as_ptr()));
        Value::maybe(known).unwrap_or_else(|| Value::new(llvm!(core::LLVMAddGlobal(self.raw, ty.raw, name.as_ptr()))))
    }

    /// Gives a global variable its value.
    pub(crate) fn define(self, global: Value<'m>, value: Value<'m>) {
        llvm!(core::LLVMSetInitializer(global.raw, value.raw));
    }

    /// A private constant with this text, the same for the same name.
    pub(crate) fn private_text(self, name: &str, text: &str) -> Value<'m> {
        let text = self.string(text);
        let global = self.global(name, text.ty());
        self.define(global, text);
        self.make_private_constant(global);
        global
    }

    /// A fresh private variable of 32 bits, zeroed.
    pub(crate) fn private_word(self) -> Value<'m> {
        let ty = self.integer(32);
        let global = Value::new(llvm!(core::LLVMAddGlobal(self.raw, ty.raw, c"".as_ptr())));
        llvm!(core::LLVMSetLinkage(global.raw, inkwell::llvm_sys::LLVMLinkage::LLVMPrivateLinkage));
        self.define(global, self.zero(ty));
        global
    }

    /// Adds what a text of ours in LLVM's assembly language declares and defines.
    pub(crate) fn link_text(self, text: &str) -> Result<(), PassError> {
        let failed = || PassError::Internal { what: "a text of LLVM's assembly language does not link".to_owned() };
        // SAFETY: the range is readable, and LLVM copies it.
        let buffer = unsafe { core::LLVMCreateMemoryBufferWithMemoryRangeCopy(text.as_ptr().cast(), text.len(), c"inline.ll".as_ptr()) };
        let (mut read, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        let refused = llvm!(ir_reader::LLVMParseIRInContext2(self.context, buffer, &raw mut read, &raw mut message)) != 0;
        // SAFETY: made above, not consumed, used no more.
        unsafe { core::LLVMDisposeMemoryBuffer(buffer) };
        if !message.is_null() {
            // SAFETY: LLVM allocated the message for us; used no more.
            unsafe { core::LLVMDisposeMessage(message) };
        }
        if refused {
            return Err(failed());
        }
        llvm!(core::LLVMSetDataLayout(read, core::LLVMGetDataLayoutStr(self.raw)));
        llvm!(core::LLVMSetTarget(read, core::LLVMGetTarget(self.raw)));
        // Takes what was read over.
        if llvm!(linker::LLVMLinkModules2(self.raw, read)) != 0 { Err(failed()) } else { Ok(()) }
    }

    /// Aligns a global variable.
    pub(crate) fn align(self, global: Value<'m>, bytes: u32) {
        llvm!(core::LLVMSetAlignment(global.raw, bytes));
    }

    /// Hides a function from other modules.
    pub(crate) fn make_internal(self, function: Function<'m>) {
        llvm!(core::LLVMSetLinkage(function.raw, inkwell::llvm_sys::LLVMLinkage::LLVMInternalLinkage));
    }

    /// Makes a global variable private and constant.
    pub(crate) fn make_private_constant(self, global: Value<'m>) {
        llvm!(core::LLVMSetLinkage(global.raw, inkwell::llvm_sys::LLVMLinkage::LLVMPrivateLinkage));
        llvm!(core::LLVMSetGlobalConstant(global.raw, 1));
    }

    /// The integer type of this width.
    pub(crate) fn integer(self, bits: u32) -> Type<'m> {
        Type::new(llvm!(core::LLVMIntTypeInContext(self.context, bits)))
    }

    /// The pointer type.
    pub(crate) fn pointer(self) -> Type<'m> {
        Type::new(llvm!(core::LLVMPointerTypeInContext(self.context, 0)))
    }

    /// The type of no value.
    pub(crate) fn void(self) -> Type<'m> {
        Type::new(llvm!(core::LLVMVoidTypeInContext(self.context)))
    }

    /// An array type.
    pub(crate) fn array(self, element: Type<'m>, length: u64) -> Type<'m> {
        Type::new(llvm!(core::LLVMArrayType2(element.raw, length)))
    }

    /// An integer constant.
    pub(crate) fn constant(self, ty: Type<'m>, value: u64) -> Value<'m> {
        Value::new(llvm!(core::LLVMConstInt(ty.raw, value, 0)))
    }

    /// The zero of a type.
    pub(crate) fn zero(self, ty: Type<'m>) -> Value<'m> {
        Value::new(llvm!(core::LLVMConstNull(ty.raw)))
    }

    /// A zero-terminated string constant.
    pub(crate) fn string(self, text: &str) -> Value<'m> {
        Value::new(llvm!(core::LLVMConstStringInContext2(self.context, text.as_ptr().cast(), text.len(), 0)))
    }

    /// An array constant.
    pub(crate) fn constant_array(self, element: Type<'m>, values: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<LLVMValueRef> = values.iter().map(|value| value.raw).collect();
        Value::new(llvm!(core::LLVMConstArray2(element.raw, raw.as_mut_ptr(), raw.len() as u64)))
    }

    /// The address that lies `bytes` behind a constant one.
    pub(crate) fn constant_address(self, base: Value<'m>, bytes: u64) -> Value<'m> {
        let mut index = [self.constant(self.integer(64), bytes).raw];
        Value::new(llvm!(core::LLVMConstInBoundsGEP2(self.integer(8).raw, base.raw, index.as_mut_ptr(), 1)))
    }
}
