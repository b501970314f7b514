#!/usr/bin/env bash
# Rewrites pulldown-latex, which expands macros into a `bumpalo::Bump`, to use a scope, and runs its tests except those that
# drive a browser. Arguments are passed to `cargo test`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=0.8.0
copy=${CARGO_TARGET_DIR:-$here/../../target}/others/pulldown-latex

bash "$here/fetch.sh" pulldown-latex "$version" "$copy"
cd "$copy"

# Replace the dependency, and remove the tests that need a browser.
perl -0pi -e "s|\[dependencies.bumpalo\]\n.*?\n\n|[dependencies.ebbtide]\npath = \"$here/../../crates/ebbtide\"\nfeatures = [\"full\"]\n\n|s" Cargo.toml
perl -0pi -e 's/\[\[test\]\]\nname = "cross-browser".*?\n\n//s; s/\[\[bench\]\]\n.*?\n\n//sg; s/\[dev-dependencies.fantoccini\]\n.*?\n\n//s' Cargo.toml
rm tests/cross-browser.rs

# An owned `Bump` becomes an arena, a borrowed one a scope.
sed -i 's/pub(super) bumpalo::Bump/pub(super) ebbtide::Arena/' src/parser/storage.rs
perl -0pi -e 's|(pub fn new\(\) -> Self \{)|/// The scope to parse into.\n    pub fn root(&mut self) -> &ebbtide::Scope<\x27_> {\n        self.0.root()\n    }\n\n    /// Create a new storage.\n    $1|' src/parser/storage.rs
sed -i -E "s/&('[a-z]+) bumpalo::Bump/\&\1 ebbtide::Scope<\1>/; s/storage: &'store Storage/storage: \&'store ebbtide::Scope<'store>/; s/storage: &storage\.0/storage/" src/parser.rs src/parser/macros.rs

# Strings.
perl -0pi -e 's/bumpalo::collections::String::new_in\((\w+)\)/$1.string()/g;
    s/let mut string = bumpalo::collections::String::with_capacity_in\(\s*(.*?),\s*storage,\s*\);/let mut string = storage.string();\n                string.reserve($1);/sg;
    s/into_bump_str/into_str/g; s/\n\s*replacement_string\.shrink_to_fit\(\);//' src/parser/macros.rs

# In the tests, the storage is owned separately from the scope.
sed -i -E 's/^( *)let (store|storage) = (pulldown_latex::)?Storage::new\(\);/&\n\1let mut owner = \2;\n\1let \2 = owner.root();/' src/parser.rs tests/*.rs tests/common/*.rs
perl -0pi -e 's/let mut storage = (.*?)&storage/let mut storage = $1storage.root()/sg while /let mut storage = [^;]*;(?:(?!let mut storage|let storage).)*&storage\b/s' tests/errors.rs tests/common/mod.rs
sed -i -E 's/&(store|storage)\b/\1/g' src/parser.rs tests/*.rs tests/common/*.rs
sed -i "s/storage: storage,/storage,/; s/'store storage/\&'store storage/" src/parser.rs

exec cargo test --lib --tests "$@"
