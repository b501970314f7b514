//! Writes the new beginnings of functions, when the library is loaded.

use super::{
    calls::{self, TARGETS, ebbtide_trial_wrapper},
    entry::{self, ENTRIES, Entry, MOST},
    local::local,
    report::{self, BYTES, Refusal, Report},
};
use crate::sys::{self, PAGE};
use core::{
    ffi::{CStr, c_int, c_void},
    ptr, slice,
    sync::atomic::Ordering,
};
use std::{
    env,
    ffi::OsStr,
    fs,
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

/// A jump to an address within 2 GiB.
const JUMP: usize = 5;
/// What a stub takes before the moved instructions, and what follows these.
const STUB: u8 = 20;
const REST: usize = 14;

/// Gives scopes to the functions that the environment names, if all of them are in this process.
fn install() {
    let (Ok(lines), Some(path)) = (env::var(ENTRIES), env::var_os(report::REPORT)) else { return };
    let entries: Option<Vec<Entry>> = lines.lines().map(Entry::from_line).collect();
    let Some(entries) = entries.filter(|entries| entries.len() <= MOST) else { return };
    let functions: Option<Vec<_>> = entries.iter().map(function).collect();
    // This process is another program: a shell, for example, that starts the one that is tried.
    let Some(functions) = functions else { return };
    let Some(report) = share(Path::new(&path)) else { return };
    calls::REPORT.store(ptr::from_ref(report).cast_mut(), Ordering::Relaxed);
    calls::look_at_processor();
    let functions: Result<Vec<usize>, Refusal> = functions.into_iter().collect();
    match functions.and_then(|functions| install_all(&entries, &functions)) {
        Ok(()) => drop(report.processes.fetch_add(1, Ordering::Relaxed)),
        Err(refusal) => report.refusal.store(refusal as u64, Ordering::Relaxed),
    }
}

/// All functions or none (B1).
fn install_all(entries: &[Entry], functions: &[usize]) -> Result<(), Refusal> {
    // The loader calls what the program's libraries do first before this.
    if fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() > 1) {
        return Err(Refusal::Threads);
    }
    if !calls::prepare() {
        return Err(Refusal::NoRoom);
    }
    for (entry, function) in entries.iter().zip(functions) {
        // SAFETY: the loader has mapped at least as many bytes of code there (`each_module`).
        // Nobody changes them meanwhile, because no other thread runs.
        let found = unsafe { slice::from_raw_parts(address(*function), entry.first.len()) };
        if found != entry.first {
            return Err(Refusal::OtherBytes);
        }
    }
    let mut stubs = Vec::new();
    for (index, (entry, function)) in entries.iter().zip(functions).enumerate() {
        stubs.push(stub(index, entry, *function)?);
    }
    for ((entry, function), stub) in entries.iter().zip(functions).zip(stubs) {
        let mut jump = vec![0xe9];
        jump.extend(distance(*function + JUMP, stub).ok_or(Refusal::NoRoom)?.to_le_bytes());
        // Whoever jumps to the middle of what was here is stopped.
        jump.resize(entry.first.len(), 0xcc);
        let page = *function & !(PAGE - 1);
        let bytes = *function + jump.len() - page;
        // SAFETY: the pages of the function, whose contents stay as they are.
        if unsafe { sys::mprotect(address(page).cast(), bytes, sys::PROT_READ_WRITE) } != 0 {
            return Err(Refusal::Protected);
        }
        // SAFETY: as many bytes as the entry replaces, all in these pages. No thread runs there: this
        // is the only one, and this function is in another file.
        unsafe { address(*function).copy_from_nonoverlapping(jump.as_ptr(), jump.len()) };
        // SAFETY: the pages were made writable above; they get back the access that code needs, and
        // nothing writes to them again.
        unsafe { sys::mprotect(address(page).cast(), bytes, sys::PROT_READ_EXECUTE) };
    }
    Ok(())
}

fn address(address: usize) -> *mut u8 {
    ptr::with_exposed_provenance_mut(address)
}

/// The distance from one address to another, if it has 32 bits.
fn distance(from: usize, to: usize) -> Option<i32> {
    i32::try_from(to.wrapping_sub(from).cast_signed()).ok()
}

/// Writes the stub of a function, with its first instructions, and returns its address.
fn stub(index: usize, entry: &Entry, function: usize) -> Result<usize, Refusal> {
    let page = near(function).ok_or(Refusal::NoRoom)?;
    let moved = page + usize::from(STUB);
    let mut code = vec![0x55, 0xbd]; // push rbp; mov ebp, index
    code.extend(u32::try_from(index).unwrap_or_default().to_le_bytes());
    code.extend([0xff, 0x25, 0, 0, 0, 0]); // jmp to the address that follows
    code.extend((ebbtide_trial_wrapper as *const ()).addr().to_le_bytes());
    code.extend(&entry.moved);
    for fix in &entry.fixes {
        let target = function.wrapping_add_signed(isize::try_from(fix.target).unwrap_or_default());
        let (from, size) = (usize::from(STUB) + fix.at, if fix.is_absolute { 8 } else { 4 });
        let word = code.get_mut(from..from + size).ok_or(Refusal::OtherBytes)?;
        if fix.is_absolute {
            word.copy_from_slice(&target.to_le_bytes());
        } else {
            let distance = distance(page + from + size, target).ok_or(Refusal::NoRoom)?;
            word.copy_from_slice(&distance.to_le_bytes());
        }
    }
    code.extend([0xff, 0x25, 0, 0, 0, 0]);
    code.extend((function + entry.first.len()).to_le_bytes());
    debug_assert_eq!(code.len(), usize::from(STUB) + entry.moved.len() + REST);
    let frames = code.len().next_multiple_of(8);
    let described = frames_of(page, code.len(), entry);
    code.resize(frames, 0);
    code.extend(described);
    if code.len() > PAGE {
        return Err(Refusal::NoRoom);
    }
    // SAFETY: `near` has just mapped this page writable, nobody else knows it, and the code has at
    // most `PAGE` bytes.
    unsafe { address(page).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
    // SAFETY: `near` mapped this page, which nobody else knows, and nothing writes to it from now
    // on.
    if unsafe { sys::mprotect(address(page).cast(), PAGE, sys::PROT_READ_EXECUTE) } != 0 {
        return Err(Refusal::Protected);
    }
    // SAFETY: descriptions of frames that end with a zero, and stay where they are (B4).
    unsafe { sys::__register_frame(address(page + frames).cast()) };
    let mut bases = [0; 3];
    // Some unwinders sort what is registered at the first search, in memory that they allocate, which
    // is not to be that of a scope.
    // SAFETY: `bases` has room for the three words that the search writes, and any address may be
    // searched for.
    unsafe { sys::_Unwind_Find_FDE(address(page).cast(), bases.as_mut_ptr()) };
    let stack_bytes = entry.stack_bytes.next_multiple_of(calls::STACK_ALIGN);
    TARGETS[index].code.store(moved, Ordering::Relaxed);
    TARGETS[index].stack_bytes.store(stack_bytes, Ordering::Relaxed);
    Ok(page)
}

/// The descriptions of a stub's frames, for unwinders (B4): one for the code of `len` bytes at
/// `start`, with what it shares with others in front, and a zero behind.
fn frames_of(start: usize, len: usize, entry: &Entry) -> Vec<u8> {
    const RBP: u8 = 6;
    const RSP: u8 = 7;
    const RETURN: u8 = 16;
    const FACTOR: u8 = (entry::FACTOR & 0x7f) as u8;
    // Version 1, no augmentation, offsets in bytes and in units of -8, and the register that returns.
    // At the beginning, the stack has the address of return only.
    let shared = [0, 0, 0, 0, 1, 0, 1, FACTOR, RETURN, 0x0c, RSP, 8, 0x80 | RETURN, 1];
    let mut own = Vec::new();
    own.extend(start.to_le_bytes());
    own.extend(len.to_le_bytes());
    // Behind the push, rbp is on the stack, up to the moved instructions.
    own.extend([0x40 | 1, 0x0e, 16, 0x80 | RBP, 2, 0x02, STUB - 1]);
    own.extend(&entry.unwinding);
    let mut frames = Vec::new();
    let mut append = |mut bytes: Vec<u8>| {
        bytes.resize(bytes.len().next_multiple_of(8) + 4, 0);
        frames.extend(u32::try_from(bytes.len()).unwrap_or_default().to_le_bytes());
        frames.extend(bytes);
        u32::try_from(frames.len()).unwrap_or_default()
    };
    // From there to the shared part, which is the first.
    let distance = append(shared.to_vec()) + 4;
    append([&distance.to_le_bytes()[..], &own].concat());
    frames.extend([0; 4]);
    frames
}

/// A new page within 1 GiB of a function, so that both reach each other and what the function
/// reaches.
fn near(function: usize) -> Option<usize> {
    const STEP: usize = 1 << 20;
    let start = function & !(STEP - 1);
    let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_FIXED_NOREPLACE;
    for steps in 1..1024 {
        for hint in [start.checked_sub(steps * STEP), start.checked_add(steps * STEP)] {
            let Some(hint) = hint.filter(|hint| *hint >= STEP) else { continue };
            let hint: *mut c_void = address(hint).cast();
            // SAFETY: `MAP_FIXED_NOREPLACE` maps new pages and replaces none; an old system chooses
            // another free address.
            let found = unsafe { sys::mmap(hint, PAGE, sys::PROT_READ_WRITE, flags, -1, 0) };
            if found == hint {
                return Some(found.expose_provenance());
            }
            if found.addr() != usize::MAX {
                // An old system, which takes the address as a hint.
                // SAFETY: the mapping was made just now with this size, and nobody else knows it.
                unsafe { sys::munmap(found, PAGE) };
            }
        }
    }
    None
}

/// What is searched among the files of this process.
struct Search<'a> {
    entry: &'a Entry,
    found: Option<Result<usize, Refusal>>,
}

/// The address of a function in this process; `None` if its file is not loaded.
fn function(entry: &Entry) -> Option<Result<usize, Refusal>> {
    let mut search = Search { entry, found: None };
    // SAFETY: `each_module` casts `data` back to a `Search`, which lives until this call returns
    // and which nothing else uses meanwhile.
    unsafe { sys::dl_iterate_phdr(each_module, (&raw mut search).cast()) };
    search.found
}

extern "C" fn each_module(module: *mut sys::LoadedModule, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: `function` passes its own `Search`, valid and used by nothing else until
    // `dl_iterate_phdr` returns.
    let search = unsafe { &mut *data.cast::<Search<'_>>() };
    // SAFETY: the loader passes an aligned, initialised description, which nobody changes during
    // this call.
    let module = unsafe { &*module };
    // SAFETY: the loader's name is not null, ends with a zero, and is alive during this call.
    let name = unsafe { CStr::from_ptr(module.name) }.to_bytes();
    let path = if name.is_empty() {
        fs::read_link("/proc/self/exe")
    } else {
        fs::canonicalize(PathBuf::from(OsStr::from_bytes(name)))
    };
    if !path.is_ok_and(|path| path == search.entry.module) {
        return 0;
    }
    // SAFETY: the loader has as many program headers of the file there, aligned and mapped as long
    // as the file is loaded.
    let headers = unsafe { slice::from_raw_parts(module.headers, module.header_count.into()) };
    let (start, bytes) = (search.entry.address, search.entry.first.len() as u64);
    let is_code = headers.iter().any(|header| {
        let offset = start.checked_sub(header.address);
        header.kind == sys::LOADED
            && header.flags & sys::EXECUTABLE != 0
            && offset.is_some_and(|offset| offset.saturating_add(bytes) <= header.bytes)
    });
    // If not, another file has taken the place of the one that the adviser read.
    let address = usize::try_from(start).ok().filter(|_| is_code);
    let address = address.map(|address| module.base.wrapping_add(address));
    search.found = Some(address.ok_or(Refusal::OtherBytes));
    1
}

/// Maps the report, which stays mapped.
fn share(path: &Path) -> Option<&'static Report> {
    let file = fs::OpenOptions::new().read(true).write(true).open(path).ok()?;
    let protection = sys::PROT_READ_WRITE;
    // SAFETY: a new mapping at an address that the system chooses overlaps no other mapping.
    let memory = unsafe {
        sys::mmap(ptr::null_mut(), BYTES, protection, sys::MAP_SHARED, file.as_raw_fd(), 0)
    };
    // SAFETY: the mapping has room for the report, of which any bytes are valid, and is aligned.
    (memory.addr() != usize::MAX).then(|| unsafe { &*memory.cast::<Report>() })
}

/// Reports the calls of the thread that ends the process.
extern "C" fn end() {
    calls::report_calls(local());
}

/// The shared library's first and last function.
#[cfg(ebbtide_preload)]
mod exported {
    extern "C" fn begin() {
        crate::sys::refuse_other_allocators();
        crate::sys::find_usable_size();
        super::install();
    }

    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEGIN: extern "C" fn() = begin;
    #[used]
    #[unsafe(link_section = ".fini_array")]
    static END: extern "C" fn() = super::end;
}
