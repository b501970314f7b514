//! The calls of the functions that have scopes: the frame between a function and its caller.

use super::{
    entry::MOST,
    local::{Local, Open, local},
    report::{CALLS_AT_ONCE, Report},
};
use crate::sys;
use core::{
    arch::global_asm,
    ffi::{c_int, c_uint, c_void},
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering},
};
use ebbtide_global::engine::Ticket;

/// A function with scopes.
pub(crate) struct Target {
    /// Its first instructions, at their new address.
    pub(crate) code: AtomicUsize,
    /// The bytes of its arguments on the stack, a multiple of [`STACK_ALIGN`].
    pub(crate) stack_bytes: AtomicUsize,
}

/// The functions, in the order of their entries. Written before the first call.
pub(crate) static TARGETS: [Target; MOST] =
    [const { Target { code: AtomicUsize::new(0), stack_bytes: AtomicUsize::new(0) } }; MOST];

/// The report of this process; null if there is none.
pub(crate) static REPORT: AtomicPtr<Report> = AtomicPtr::new(ptr::null_mut());

/// The key whose values end the owners of threads, plus 1; 0 if there is none.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Instead of the bytes of arguments: the wrapper is not to stay on the stack, because so many others
/// are. The function then returns to its caller itself.
const WITHOUT_FRAME: usize = usize::MAX;

/// What the wrapper needs to continue.
#[repr(C)]
pub(crate) struct Continuation {
    code: usize,
    stack_bytes: usize,
}

/// Opens a scope for a call of a function, whose wrapper has this frame.
extern "C" fn enter(index: usize, frame: usize) -> Continuation {
    let (local, target) = (local(), &TARGETS[index]);
    let code = target.code.load(Ordering::Relaxed);
    local.calls.set(local.calls.get() + 1);
    if local.calls.get() >= local.reported.get().min(CALLS_AT_ONCE) {
        report_calls(local);
    }
    end_calls(local, frame);
    let depth = local.depth.get();
    let Some(slot) = local.open.get(depth) else {
        return Continuation { code, stack_bytes: WITHOUT_FRAME };
    };
    let is_ready = local.owner.is_started() || start(local);
    let ticket = if is_ready { local.owner.enter_default() } else { None };
    slot.set(Open { frame, ticket: ticket.map_or(0, Ticket::number) });
    local.depth.set(depth + 1);
    let stack_bytes = target.stack_bytes.load(Ordering::Relaxed);
    Continuation { code, stack_bytes: on_stack(local, frame + FRAME_TO_ARGUMENTS, stack_bytes) }
}

/// The distance from a wrapper's frame to the arguments on the stack.
const FRAME_TO_ARGUMENTS: usize = 16;

/// As many bytes from this address on as the stack has: those of a coroutine can end right behind the
/// first frame.
fn on_stack(local: &Local, address: usize, bytes: usize) -> usize {
    let next_page = (address | (sys::PAGE - 1)) + 1;
    if address + bytes <= next_page || local.readable.get() == next_page {
        return bytes;
    }
    if sys::is_readable(next_page) {
        local.readable.set(next_page);
        return bytes;
    }
    (next_page - address) & !(STACK_ALIGN - 1)
}

/// The alignment of the copied arguments.
pub(crate) const STACK_ALIGN: usize = 64;

/// Ends the scope of the call whose wrapper has this frame.
extern "C" fn leave(frame: usize) {
    end_calls(local(), frame);
}

/// Ends the scopes of the calls that end if the call with this frame begins or ends (B3).
fn end_calls(local: &Local, frame: usize) {
    let mut outermost = 0;
    let mut depth = local.depth.get();
    while let Some(last) = depth.checked_sub(1) {
        let Some(open) = local.open.get(last).map(|slot| slot.get()) else { break };
        if open.frame > frame {
            break;
        }
        (outermost, depth) = (open.ticket, last);
    }
    local.depth.set(depth);
    // Those nested in it end with it.
    if let Some(ticket) = Ticket::from_number(outermost) {
        local.owner.leave(ticket);
    }
}

/// Lets the thread open scopes, until it ends. Returns false if that is impossible.
#[cold]
fn start(local: &'static Local) -> bool {
    let Some(key) = KEY.load(Ordering::Relaxed).checked_sub(1) else { return false };
    // SAFETY: the key exists, and its values are the words of threads, which live until the keys'
    // functions have run.
    let failed = unsafe { sys::pthread_setspecific(key, ptr::from_ref(local).cast()) };
    failed == 0 && local.owner.start()
}

/// Prepares the end of threads. Returns false if that is impossible.
pub(crate) fn prepare() -> bool {
    let mut key: c_uint = 0;
    // SAFETY: `key` is valid for the write of a number, and every value of the key will be a
    // thread's `Local`, which `end_thread` takes.
    if unsafe { sys::pthread_key_create(&raw mut key, Some(end_thread)) } != 0 {
        return false;
    }
    KEY.store(key + 1, Ordering::Relaxed);
    true
}

/// Ends a thread's owner. What runs later in the thread may still allocate and free.
unsafe extern "C" fn end_thread(local: *mut c_void) {
    // SAFETY: the values of the key are words of threads, and this is the thread's own.
    let local = unsafe { &*local.cast::<Local>() };
    report_calls(local);
    local.owner.end();
}

/// Adds the calls of the thread to the report.
pub(crate) fn report_calls(local: &Local) {
    // SAFETY: null, or the report, which is aligned, initialised and never unmapped, and whose
    // fields are atomics.
    if let Some(report) = unsafe { REPORT.load(Ordering::Relaxed).as_ref() } {
        let calls = local.calls.replace(0);
        local.reported.set(local.reported.get() + calls);
        report.calls.fetch_add(calls, Ordering::Relaxed);
    }
}

/// In the second phase of unwinding, ends the scope of a wrapper's frame. Always continues.
extern "C" fn unwound(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut c_void,
    context: *mut sys::UnwindContext,
) -> c_int {
    const CLEANUP_PHASE: c_int = 2;
    const RBP: c_int = 6;
    const CONTINUE: c_int = 8;
    if actions & CLEANUP_PHASE != 0 {
        // SAFETY: the unwinder's context of the wrapper's frame, in which this register is set.
        leave(unsafe { sys::_Unwind_GetGR(context, RBP) });
    }
    CONTINUE
}

/// How the upper halves of vector registers are kept: 0 if there are none, 1 if they are kept while
/// they are in use, 2 if the processor does not tell, or has mask registers of 16 bits.
static UPPER: AtomicUsize = AtomicUsize::new(2);

/// Finds out what the processor has.
#[allow(unused_unsafe, reason = "the functions are safe in newer versions of Rust")]
pub(crate) fn look_at_processor() {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    // SAFETY: every processor with 64 bits has this leaf.
    let has_xsave = unsafe { __cpuid(1) }.ecx & (1 << 27) != 0;
    // SAFETY: the processor has this leaf, because it has `xsave`.
    let tells = has_xsave && unsafe { __cpuid_count(13, 1) }.eax & (1 << 2) != 0;
    // SAFETY: a processor that tells has this leaf too.
    let narrow = tells && unsafe { __cpuid_count(7, 0) }.ebx & (1 << 16 | 1 << 30) == 1 << 16;
    let how = if tells && !narrow { 1 } else { 2 * usize::from(has_xsave) };
    UPPER.store(how, Ordering::Relaxed);
}

// The stub of a function pushes rbp, puts the number of the function into it and jumps here.
//
//     rbp + 16   the caller's arguments on the stack
//     rbp + 8    the address of return, in the caller
//     rbp        the caller's rbp
//     rbp - 8    the address of the function's code
//     rbp - 16   the area of `xsave`; with 1 added, that of zmm16 to zmm31 and the mask registers; 0 if
//                there is none
//     rbp - 24   the number of the function
//     rbp - 96   the other registers that a function may change, nine words
//     rbp - 352  xmm0 to xmm15
//
// Below, aligned to 64 as the widest arguments are, and while they are in use, the upper halves of the
// vector registers; then a copy of the arguments. The caller may not have aligned the stack: compilers
// know which functions of a file need that. The C library uses the mask registers and zmm16 to zmm31, and
// never clears them; a caller can have values there while it calls a function of its own file. They are
// kept, faster than by `xsave`, if nothing else is.
global_asm!(
    ".pushsection .text.ebbtide_trial_wrapper,\"ax\",@progbits",
    ".macro ebbtide_trial_keep",
    "mov [rbp - 32], rax",
    "mov [rbp - 40], rcx",
    "mov [rbp - 48], rdx",
    "mov [rbp - 56], rsi",
    "mov [rbp - 64], rdi",
    "mov [rbp - 72], r8",
    "mov [rbp - 80], r9",
    "mov [rbp - 88], r10",
    "mov [rbp - 96], r11",
    ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
    "movups [rbp - 352 + 16 * \\n], xmm\\n",
    ".endr",
    "mov qword ptr [rbp - 16], 0",
    "mov rax, [rip + {upper}]",
    "test eax, eax",
    "jz 3f",
    "cmp eax, 2",
    "je 2f",
    "mov ecx, 1",
    "xgetbv",
    "test al, 0x44",
    "jnz 2f",
    "test al, 0xa0",
    "jz 3f",
    "sub rsp, 1088",
    "lea rax, [rsp + 1]",
    "mov [rbp - 16], rax",
    ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
    "vmovdqu64 [rsp + 64 * (\\n - 16)], zmm\\n",
    ".endr",
    ".irp n,0,1,2,3,4,5,6,7",
    "kmovq [rsp + 1024 + 8 * \\n], k\\n",
    ".endr",
    "jmp 3f",
    "2:",
    "sub rsp, 2752",
    "and rsp, -64",
    "mov [rbp - 16], rsp",
    "xor eax, eax",
    "lea rdi, [rsp + 512]",
    "mov ecx, 8",
    "rep stosq",
    "mov eax, 0xe6",
    "xor edx, edx",
    "xsave64 [rsp]",
    "3:",
    ".endm",
    ".macro ebbtide_trial_restore_vectors",
    "mov rdi, [rbp - 16]",
    "test rdi, rdi",
    "jz 3f",
    "test dil, 1",
    "jz 2f",
    ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
    "vmovdqu64 zmm\\n, [rdi + 64 * (\\n - 16) - 1]",
    ".endr",
    ".irp n,0,1,2,3,4,5,6,7",
    "kmovq k\\n, [rdi + 1024 + 8 * \\n - 1]",
    ".endr",
    "jmp 3f",
    "2:",
    "mov eax, 0xe6",
    "xor edx, edx",
    "xrstor64 [rdi]",
    "3:",
    ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
    "movups xmm\\n, [rbp - 352 + 16 * \\n]",
    ".endr",
    ".endm",
    ".macro ebbtide_trial_restore_words",
    "mov rax, [rbp - 32]",
    "mov rcx, [rbp - 40]",
    "mov rdx, [rbp - 48]",
    "mov rsi, [rbp - 56]",
    "mov rdi, [rbp - 64]",
    "mov r8, [rbp - 72]",
    "mov r9, [rbp - 80]",
    "mov r10, [rbp - 88]",
    "mov r11, [rbp - 96]",
    ".endm",
    ".globl ebbtide_trial_wrapper",
    ".hidden ebbtide_trial_wrapper",
    ".type ebbtide_trial_wrapper,@function",
    "ebbtide_trial_wrapper:",
    ".cfi_startproc",
    ".cfi_personality 0x1b, {unwound}",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "sub rsp, 352",
    ".cfi_adjust_cfa_offset 352",
    "mov [rsp + 328], rbp",
    "lea rbp, [rsp + 352]",
    ".cfi_def_cfa rbp, 16",
    "and rsp, -64",
    "ebbtide_trial_keep",
    "mov rdi, [rbp - 24]",
    "mov rsi, rbp",
    "call {enter}",
    "mov [rbp - 8], rax",
    "mov r8, rdx",
    "ebbtide_trial_restore_vectors",
    // While the function runs, nothing is kept.
    "lea rsp, [rbp - 352]",
    "and rsp, -64",
    "test r8, r8",
    "jz 4f",
    "js 5f",
    "sub rsp, r8",
    "mov rcx, r8",
    "shr rcx, 3",
    "lea rsi, [rbp + 16]",
    "mov rdi, rsp",
    "rep movsq",
    "4:",
    "ebbtide_trial_restore_words",
    "call [rbp - 8]",
    "ebbtide_trial_keep",
    "mov rdi, rbp",
    "call {leave}",
    "ebbtide_trial_restore_vectors",
    "ebbtide_trial_restore_words",
    "mov rsp, rbp",
    ".cfi_remember_state",
    ".cfi_def_cfa rsp, 16",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_restore_state",
    "5:",
    "ebbtide_trial_restore_words",
    "mov rsp, rbp",
    ".cfi_def_cfa rsp, 16",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    // Not overwritten by a signal: it is in the red zone.
    "jmp [rsp - 16]",
    ".cfi_endproc",
    ".size ebbtide_trial_wrapper, . - ebbtide_trial_wrapper",
    ".purgem ebbtide_trial_keep",
    ".purgem ebbtide_trial_restore_vectors",
    ".purgem ebbtide_trial_restore_words",
    ".popsection",
    upper = sym UPPER,
    enter = sym enter,
    leave = sym leave,
    unwound = sym unwound,
);

unsafe extern "C" {
    /// Where the stubs continue. Not called as a function of C.
    pub(crate) fn ebbtide_trial_wrapper();
}
