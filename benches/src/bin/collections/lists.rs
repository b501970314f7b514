//! Methods of vectors that have different names or arguments in different crates.

use ebbtide::{GrowVec, collections::Vec as ScopeVec};

pub trait Copies<T> {
    fn clone_all(&mut self, values: &[T]);
    fn copy_all(&mut self, values: &[T]);
}

macro_rules! copies {
    ([$($parameters:tt)*] $list:ty, $clone:ident, $copy:ident) => {
        impl<$($parameters)* T: Copy> Copies<T> for $list {
            #[inline(always)]
            fn clone_all(&mut self, values: &[T]) {
                self.$clone(values);
            }
            #[inline(always)]
            fn copy_all(&mut self, values: &[T]) {
                self.$copy(values);
            }
        }
    };
}

copies!([] Vec<T>, extend_from_slice, extend_from_slice);
copies!(['s, 'a,] ScopeVec<'s, 'a, T>, extend_from_slice, extend_from_slice_copy);
copies!(['s, 'a,] GrowVec<'s, 'a, T>, extend_from_slice, extend_from_slice_copy);
copies!(['b,] bumpalo::collections::Vec<'b, T>, extend_from_slice, extend_from_slice_copy);
copies!(['b,] bump_scope::BumpVec<T, &'b bump_scope::Bump>, extend_from_slice_clone, extend_from_slice_copy);
copies!(['b,] bump_scope::MutBumpVec<T, &'b mut bump_scope::Bump>, extend_from_slice_clone, extend_from_slice_copy);

pub trait Splits: Sized {
    fn split(&mut self, at: usize) -> Self;
    fn retain_every_other(&mut self);
}

macro_rules! splits {
    ([$($parameters:tt)*] $list:ty, |$at:ident| $range:expr, $retain:ident) => {
        impl<$($parameters)* T: Copy> Splits for $list {
            #[inline(always)]
            fn split(&mut self, $at: usize) -> Self {
                self.split_off($range)
            }
            #[inline(always)]
            fn retain_every_other(&mut self) {
                let mut turn = 0;
                self.$retain(|_| {
                    turn += 1;
                    turn % 2 == 0
                });
            }
        }
    };
}

splits!([] Vec<T>, |at| at, retain_mut);
splits!(['s, 'a,] ScopeVec<'s, 'a, T>, |at| at, retain_mut);
splits!(['b,] bumpalo::collections::Vec<'b, T>, |at| at, retain_mut);
splits!(['b,] bump_scope::BumpVec<T, &'b bump_scope::Bump>, |at| at.., retain);
