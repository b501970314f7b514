#!/usr/bin/env bash
# Runs the tests of the Julia package with one thread, and with -O1: compiling takes most of the time, and
# a third less so.
# Usage: ci/julia.sh [--probe | --install]
#        ci/julia.sh more                  runs them as users do, with two threads, and with bounds checks
#                                          that @inbounds does not remove
#        ci/julia.sh run ARGUMENT...       starts Julia with these arguments, for which it builds the libraries
#        ci/julia.sh others FOLDER         runs tests and programs written for Bumper.jl with Ebbtide in its place
#        ci/julia.sh bench FOLDER [FILE]   compares Ebbtide with Bumper.jl, and writes the table to FILE
#        ci/julia.sh arena FOLDER FILE     compares @arena with that of ArenaPirate.jl (Julia 1.11 or later), and
#                                          writes the table to FILE
#        ci/julia.sh docs FOLDER           builds the reference with Documenter, into julia/Ebbtide/docs/build
# For others and bench, FOLDER has a checkout of Bumper.jl as Bumper, of its dependency
# UnsafeArrays.jl as UnsafeArrays, and of those packages that use Bumper.jl whose tests are to run as
# well: julia/others/users names them. AtomicSymmetries.jl needs StaticArrays.jl 1.2 as StaticArrays;
# its tests take five minutes. For arena, it has one of ArenaPirate.jl as ArenaPirate. For docs, it has
# checkouts of Documenter 0.27 and of its dependencies: ANSIColoredPrinters, DocStringExtensions,
# IOCapture, JSON 0.21 and Parsers 2.2. The program is $JULIA if that is set. Otherwise it is
# Julia 1.5.3 from the packages of Debian 11, which --install unpacks into target/julia; $JULIA_PREFIX
# names another folder. Nothing of the system is changed. --probe fails if there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
prefix=${JULIA_PREFIX:-$target/julia}

packages=(julia julia-common libjulia1 libdsfmt-19937-1 libgfortran5 libhttp-parser2.9 libmbedcrypto3 libmbedx509-0
    libmbedtls12 libpcre3 libpcre2-8-0 libgit2-1.1 libffi7 libllvm9 libopenlibm3 libutf8proc2 libopenblas0-pthread libblas3
    liblapack3 libsuitesparseconfig5 libcholmod3 libspqr2 libumfpack5 libarpack2 libgmp10 libmpfr6 libssh2-1
    libcurl3-gnutls libunwind8)

julia() {
    if [ -n "${JULIA:-}" ]; then
        "$JULIA" "$@"
    else
        local folders
        folders=("$prefix"/lib/*-linux-gnu "$prefix"/usr/lib/*-linux-gnu "$prefix"/usr/lib/*-linux-gnu/{blas,lapack,julia})
        LD_LIBRARY_PATH=$(IFS=: && echo "${folders[*]}") "$prefix/usr/bin/julia" "$@"
    fi
}

probe() { julia --startup-file=no -e 'exit(VERSION < v"1.5")'; }

# The mirror that this system's own packages come from also has the older release. apt gets a source
# list and a state of its own, and is not told what is installed.
install() {
    local release mirror apt package
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI)' "Release: $release" | head -n 1)
    [ -n "$mirror" ] || { echo "apt is not configured for a mirror of Debian" >&2 && return 1; }
    rm -rf "$prefix" "$prefix.new"
    mkdir -p "$prefix.new"/apt/{lists,archives}/partial
    cd "$prefix.new/apt"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >sources.list
    apt=(apt-get -o "Dir::Etc::SourceList=$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$PWD/lists" -o Dir::State::status=/dev/null -o "Dir::Cache=$PWD"
        -o APT::Sandbox::User=root)
    "${apt[@]}" update
    cd archives
    "${apt[@]}" download "${packages[@]}"
    for package in *.deb; do
        dpkg -x "$package" "$prefix.new"
    done
    cd "$prefix.new/.."
    rm -rf "$prefix.new/apt"
    mv "$prefix.new" "$prefix"
}

# Compiled code is kept apart from that of the user, whose packages and settings are not used
# either. Julia's own depots, which follow the user's, have compiled standard libraries since 1.9.
prepare() {
    cargo build --release --package ebbtide-capi
    export EBBTIDE_LIBRARY=${EBBTIDE_LIBRARY:-$target/release/libebbtide_capi.so}
    unset JULIA_DEPOT_PATH
    local bundled
    bundled=$(julia --startup-file=no -e 'join(stdout, DEPOT_PATH[2:end], ":")')
    export JULIA_DEPOT_PATH=$target/julia-depot:$bundled JULIA_LOAD_PATH=@:@stdlib
}

# The library in Rust that the tests lend scopes to. It has a folder of its own below target/,
# because it is not of the workspace.
prepare_tests() {
    prepare
    cargo build --release --locked --manifest-path julia/Ebbtide/test/shared_scope/Cargo.toml \
        --target-dir "$target/shared_scope"
    export EBBTIDE_SHARED_SCOPE=$target/shared_scope/release/libshared_scope.so
}

# What the programs load as Bumper.jl is the package of that name in julia/others/packages. Some
# tests of the packages that use it fail on older Julias with Bumper.jl, too: as many have to pass.
# In a load path, packages precede the standard libraries that they use; Julia 1.11 requires it.
others() {
    local folder=$1 here=$PWD/julia/others user
    export JULIA_LOAD_PATH=$PWD/julia:$here/packages:$folder:@stdlib
    julia --startup-file=no "$here/tests.jl" "$folder/Bumper/test/runtests.jl"
    julia --startup-file=no "$here/readme.jl" "$folder/Bumper/README.md"
    for user in "$here"/users/*.jl; do
        user=$(basename "$user" .jl)
        [ ! -e "$folder/$user" ] || compare "$folder" "$user"
    done
}
compare() {
    local theirs ours
    ours=$(summary "$2" "$1/$2")
    theirs=$(JULIA_LOAD_PATH=$1:@stdlib summary "$2" "$1/$2")
    printf '%s with Bumper.jl:\n%s\nand with Ebbtide:\n%s\n' "$2" "$theirs" "$ours"
    [[ $ours = *' Pass '* && $ours = "$theirs" ]]
}
# The head of the test summary, and its line with the sum of all tests, without the time that it took.
summary() {
    julia --startup-file=no --color=no julia/others/users.jl "$@" 2>/dev/null | grep -B 1 "^$1 .*|" | tail -n 2 | sed 's/ *[0-9.]*m\?[0-9.]*s$//; s/ *Time$//' || true
}

bench() {
    local folder=$1
    export JULIA_LOAD_PATH=$PWD/julia:$folder:@stdlib
    julia --startup-file=no julia/bench/run.jl "${@:2}"
}

arena() {
    local folder=$1 file=$2 turn with
    export JULIA_LOAD_PATH=$PWD/julia:$folder:@stdlib
    julia --startup-file=no -e 'println("# cpu: $(first(Sys.cpu_info()).model), $(Sys.CPU_THREADS) threads\n# toolchain: Julia $VERSION")' >"$file"
    echo '# how: ci/julia.sh arena; mean milliseconds of a call, processes take turns, with other programs running' >>"$file"
    echo 'program,elements,threads,with,ms,collections' >>"$file"
    for turn in 1 2 3; do
        for with in neither Ebbtide ArenaPirate.jl; do
            julia --startup-file=no --threads=1 julia/bench/arena.jl "$with"
            julia --startup-file=no --threads=2 julia/bench/arena.jl "$with"
        done
    done >>"$file"
}

# Fails if an example of a docstring prints something else than it says, or if an exported name is
# not in the reference.
docs() {
    local folder=$1
    export JULIA_LOAD_PATH=$PWD/julia:$folder:@stdlib
    julia --startup-file=no julia/Ebbtide/docs/make.jl
}

case ${1:-} in
--probe) probe ;;
--install) (install) ;;
run)
    shift
    prepare_tests
    julia --startup-file=no "$@"
    ;;
others | bench | arena | docs)
    prepare
    "$1" "$(realpath "$2")" "${@:3}"
    ;;
'' | more)
    prepare_tests
    tests=(--startup-file=no --color=no --project=julia/Ebbtide julia/Ebbtide/test/runtests.jl)
    if [ $# -eq 0 ]; then
        JULIA_NUM_THREADS=1 julia -O1 "${tests[@]}"
    else
        JULIA_NUM_THREADS=2 julia "${tests[@]}"
        JULIA_NUM_THREADS=1 julia --check-bounds=yes "${tests[@]}"
    fi
    ;;
*)
    sed -n '2,/^set/s/^# //p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
