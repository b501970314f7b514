//! The fast paths of other arenas as functions, named after the functions of `ebbtide-codegen` that
//! do the same. `cargo test -p ebbtide-codegen -- --ignored` compares the numbers of their
//! instructions. Strings are left out: how many instructions one takes depends on its length, and
//! most of them are in `memcpy`.

macro_rules! peer {
    (
        $peer:ident: $arena:ty, $error:ty;
        $s:ident, $value:ident, $alloc:expr, $try_alloc:expr $(,)?
    ) => {
        pub mod $peer {
            type Arena<'a> = $arena;

            #[unsafe(export_name = concat!(stringify!($peer), "__alloc_u64"))]
            pub fn alloc_u64<'a>($s: &'a Arena<'a>, $value: u64) -> &'a mut u64 {
                $alloc
            }

            #[unsafe(export_name = concat!(stringify!($peer), "__alloc_u8"))]
            pub fn alloc_u8<'a>($s: &'a Arena<'a>, $value: u8) -> &'a mut u8 {
                $alloc
            }

            #[unsafe(export_name = concat!(stringify!($peer), "__alloc_three_words"))]
            pub fn alloc_three_words<'a>($s: &'a Arena<'a>, $value: [u64; 3]) -> &'a mut [u64; 3] {
                $alloc
            }

            #[unsafe(export_name = concat!(stringify!($peer), "__try_alloc_u64"))]
            pub fn try_alloc_u64<'a>(
                $s: &'a Arena<'a>,
                $value: u64,
            ) -> Result<&'a mut u64, $error> {
                $try_alloc
            }
        }
    };
}

peer! {
    bumpalo: ::bumpalo::Bump, ::bumpalo::AllocErr;
    s, value,
    s.alloc(value),
    s.try_alloc(value),
}

peer! {
    stumpalo: ::stumpalo::Arena, ::stumpalo::Error;
    s, value,
    s.alloc(value),
    s.try_alloc(value),
}

peer! {
    bump_scope: ::bump_scope::BumpScope<'a>, ::bump_scope::alloc::AllocError;
    s, value,
    ::bump_scope::BumpBox::leak(s.alloc(value)),
    s.try_alloc(value).map(::bump_scope::BumpBox::leak),
}

/// It has no fallible methods in stable Rust.
pub mod blink_alloc {
    type Arena = ::blink_alloc::Blink;

    #[unsafe(export_name = "blink_alloc__alloc_u64")]
    pub fn alloc_u64(s: &Arena, value: u64) -> &mut u64 {
        s.put_no_drop(value)
    }

    #[unsafe(export_name = "blink_alloc__alloc_u8")]
    pub fn alloc_u8(s: &Arena, value: u8) -> &mut u8 {
        s.put_no_drop(value)
    }

    #[unsafe(export_name = "blink_alloc__alloc_three_words")]
    pub fn alloc_three_words(s: &Arena, value: [u64; 3]) -> &mut [u64; 3] {
        s.put_no_drop(value)
    }
}
