#!/usr/bin/env bash
# Runs oxc, a JavaScript toolchain with an arena of its own, over other arenas: parser, semantic analysis
# and printer, as published, of which only the module of the arena is replaced. Checks that what it prints
# is equal, and writes times and memory in CSV, for files of packages of JavaScript.
#
#   oxc.sh [ROUNDS]   each round runs every program once, one after the other; 5 unless given
#
# Times are minima, in ms: of parsing, analysis, printing, and of all with making and dropping the arena,
# or resetting it. `peak` is the most resident memory of the process, in KiB, sources and results included.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
rounds=${1:-5}
others=${CARGO_TARGET_DIR:-$root/target}/others
mkdir -p "$others/oxc/files"
oxc=$(cd "$others/oxc" && pwd)
export CARGO_TARGET_DIR=$oxc/target RUSTFLAGS=--cap-lints=allow
contestants=(own bumpalo ebbtide-bumpalo Arena)

# The module of the arena, over the type $1 of the crate of that name.
module() {
    cat <<END
use allocator_api2::alloc::{AllocError, Allocator};
use std::{alloc::Layout, ptr::NonNull};

#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Arena($1);

impl Arena {
    pub fn new() -> Self { Arena($1::new()) }
    pub fn with_capacity(bytes: usize) -> Self { Arena($1::with_capacity(bytes)) }
    pub fn reset(&mut self) { self.0.reset() }
    pub fn allocated_bytes(&self) -> usize { $2 }
    pub fn used_bytes(&self) -> usize { $3 }
    #[inline(always)]
    pub fn alloc<T>(&self, value: T) -> &mut T { self.0.alloc(value) }
    #[inline(always)]
    pub fn alloc_str(&self, text: &str) -> &mut str { self.0.alloc_str(text) }
    #[inline(always)]
    pub fn alloc_slice_copy<T: Copy>(&self, slice: &[T]) -> &mut [T] { self.0.alloc_slice_copy(slice) }
    #[inline(always)]
    pub fn alloc_layout(&self, layout: Layout) -> NonNull<u8> { self.0.alloc_layout(layout) }
}

type Grown = Result<NonNull<[u8]>, AllocError>;

unsafe impl Allocator for &Arena {
    #[inline(always)]
    fn allocate(&self, layout: Layout) -> Grown { Allocator::allocate(&&self.0, layout) }
    #[inline(always)]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        unsafe { Allocator::deallocate(&&self.0, start, layout) }
    }
    #[inline(always)]
    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Grown {
        unsafe { Allocator::grow(&&self.0, start, old, new) }
    }
    #[inline(always)]
    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Grown {
        unsafe { Allocator::shrink(&&self.0, start, old, new) }
    }
}
END
}

build() {
    local name=$1 folder=$oxc/$1
    rm -rf "$folder"
    mkdir -p "$folder/src"
    cp -r --preserve=timestamps "$oxc/original" "$folder/allocator"
    local arena=$folder/allocator/src/arena bump='bumpalo::Bump'
    local used='self.0.allocated_bytes() - self.0.chunk_capacity()'
    case $name in
    bumpalo) dependency='bumpalo = { version = "3.20", features = ["allocator-api2"] }' ;;
    ebbtide-bumpalo)
        dependency="bumpalo = { package = \"ebbtide-bumpalo\", path = \"$root/crates/ebbtide-bumpalo\", features = [\"allocator-api2\"] }"
        ;;
    Arena)
        dependency="ebbtide = { path = \"$root/crates/ebbtide\", features = [\"allocator-api2-02\"] }"
        bump='ebbtide::Arena' used='self.0.stats().used'
        ;;
    esac
    if [[ $name != own ]]; then
        rm -r "$arena"
        local allocated='self.0.allocated_bytes()'
        [[ $name != Arena ]] || allocated='self.0.stats().capacity'
        module "$bump" "$allocated" "$used" >"$arena.rs"
        perl -0pi -e "s|\\[dependencies\\.hashbrown\\]|[dependencies]\n$dependency\n\n[dependencies.hashbrown]|" \
            "$folder/allocator/Cargo.toml"
    fi
    cat >"$folder/Cargo.toml" <<END
[package]
name = "$name"
version = "0.0.0"
edition = "2024"
[dependencies]
oxc_allocator = "=$version"
oxc_parser = "=$version"
oxc_semantic = "=$version"
oxc_codegen = "=$version"
oxc_span = "=$version"
[patch.crates-io]
oxc_allocator = { path = "allocator" }
[profile.release]
codegen-units = 1
[workspace]
END
    cat >"$folder/src/main.rs" <<'END'
use std::{env, fs, hash::{DefaultHasher, Hash, Hasher}, time::{Duration, Instant}};

/// The times of the three phases, and what was printed.
fn process(arena: &oxc_allocator::Allocator, source: &str, kind: oxc_span::SourceType) -> ([Duration; 3], String) {
    let start = Instant::now();
    let parsed = oxc_parser::Parser::new(arena, source, kind).parse();
    assert!(!parsed.panicked);
    let parse = start.elapsed();
    let start = Instant::now();
    let analysed = oxc_semantic::SemanticBuilder::new().build(&parsed.program);
    std::hint::black_box(&analysed.semantic);
    drop(analysed);
    let analysis = start.elapsed();
    let start = Instant::now();
    let code = oxc_codegen::Codegen::new().build(&parsed.program).code;
    ([parse, analysis, start.elapsed()], code)
}

fn main() {
    let [is_reset, turns, path] = [1, 2, 3].map(|n| env::args().nth(n).unwrap());
    let (is_reset, turns) = (is_reset == "reset", turns.parse::<usize>().unwrap());
    let source = fs::read_to_string(&path).unwrap();
    let kind = oxc_span::SourceType::from_path(&path).unwrap();
    let mut kept = oxc_allocator::Allocator::new();
    let mut least = [Duration::MAX; 4];
    let mut hash = 0;
    for _ in 0..turns {
        let start = Instant::now();
        let (phases, code) = if is_reset {
            kept.reset();
            process(&kept, &source, kind)
        } else {
            process(&oxc_allocator::Allocator::new(), &source, kind)
        };
        let all = start.elapsed();
        for (least, time) in least.iter_mut().zip([phases[0], phases[1], phases[2], all]) {
            *least = time.min(*least);
        }
        let mut hasher = DefaultHasher::new();
        code.hash(&mut hasher);
        hash = hasher.finish();
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak = peak.trim().trim_end_matches(" kB");
    let [parse, analysis, print, all] = least.map(|time| time.as_secs_f64() * 1000.0);
    println!("{parse:.3},{analysis:.3},{print:.3},{all:.3},{peak},{hash:016x}");
}
END
    cargo build --quiet --release --manifest-path "$folder/Cargo.toml"
}

read -r _ _ version _ < <(grep '^crate oxc_allocator ' "$here/../fetched")
bash "$here/fetch.sh" oxc_allocator "$oxc/original"
for name in "${contestants[@]}"; do
    build "$name"
done
files=()
while read -r _ name number checksum; do
    package=${name%%/*}
    [[ -e $oxc/files/$package-$number.tgz ]] || npm pack --silent --pack-destination "$oxc/files" "$package@$number" >&2
    echo "$checksum  $oxc/files/$package-$number.tgz" | sha256sum --check --quiet >&2
    tar -xzf "$oxc/files/$package-$number.tgz" -C "$oxc/files" --transform "s|^package|$package|" "package/${name#*/}"
    files+=("$name")
done < <(grep '^javascript ' "$here/../fetched")

model=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)
cat <<END
# cpu: ${model:-unknown}, $(nproc) threads
# kernel: $(uname -r)
# toolchain: $(rustc --version)
# commit: $(git -C "$root" rev-parse --short=12 HEAD)
# date: $(date -u +%F)
# how: oxc $version; minima of $rounds rounds in ms, peak in KiB
file,arenas,contestant,parse,analysis,print,all,peak
END
for file in "${files[@]}"; do
    turns=$((40000000 / $(stat --format %s "$oxc/files/$file") + 3))
    for arenas in new reset; do
        for ((round = 0; round < rounds; round++)); do
            for name in "${contestants[@]}"; do
                echo "$name,$("$oxc/target/release/$name" "$arenas" "$turns" "$oxc/files/$file")"
            done
        done >"$oxc/measured"
        if [[ $(cut -d, -f7 "$oxc/measured" | sort -u | wc -l) != 1 ]]; then
            echo "$file: the results differ" >&2
            exit 1
        fi
        for name in "${contestants[@]}"; do
            grep "^$name," "$oxc/measured" | awk -F, -v row="$file,$arenas,$name" '
                { for (i = 2; i <= 6; i++) if (NR == 1 || $i < least[i]) least[i] = $i }
                END { printf "%s", row; for (i = 2; i <= 6; i++) printf ",%s", least[i]; print "" }'
        done
    done
done
