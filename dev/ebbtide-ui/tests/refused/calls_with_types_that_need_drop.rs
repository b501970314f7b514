// The note of each error names the line of the caller, whichever call it was.

use ebbtide::{Arena, Scope, collections::{CollectIn, Map, NodeVec, Set, Vec}};
use ebbtide::hashbrown_017::{HashMap, HashSet};
use std::{hash::RandomState, sync::Arc};

// A type of its own for each call, because an error is reported once for each type.
macro_rules! types {
    ($($name:ident)*) => { $(#[derive(Clone, Default, PartialEq, Eq, Hash)] struct $name(Arc<u8>);)* };
}
types!(A B C D E F G H I J K L M N O P Q R S T U V W X Y Z A1 B1 C1 D1 E1 F1 G1 J1 K1);

// Hashers that need `Drop`.
macro_rules! hashers {
    ($($name:ident)*) => { $(
        #[derive(Clone, Default)]
        struct $name(#[allow(dead_code)] Arc<u8>);
        impl std::hash::BuildHasher for $name {
            type Hasher = std::hash::DefaultHasher;
            fn build_hasher(&self) -> Self::Hasher {
                Self::Hasher::new()
            }
        }
    )* };
}
hashers!(H1 H2 H3 H4 H5 H6 H7 H8);

fn calls(s: &mut Scope<'_>) {
    s.alloc(A::default()); //~ note
    let _ = s.try_alloc(B::default()); //~ note
    s.alloc_with(C::default); //~ note
    let _ = s.alloc_try_with(|| Ok::<_, ()>(D::default())); //~ note
    s.alloc_aligned(E::default(), 64); //~ note
    s.alloc_array::<F, 1>(|_| F::default()); //~ note
    s.alloc_slice_clone(&[G::default()]); //~ note
    s.alloc_slice_fill_with(1, |_| H::default()); //~ note
    s.alloc_slice_fill_clone(1, &I::default()); //~ note
    s.alloc_slice_fill_default::<J>(1); //~ note
    s.alloc_slice_fill_iter([K::default()]); //~ note
    s.alloc_slice_from_iter([L::default()]); //~ note
    s.alloc_vec(vec![M::default()]); //~ note
    s.vec::<N>(); //~ note
    Vec::<O>::new_in(s); //~ note
    Vec::<P>::with_capacity_in(1, s); //~ note
    Vec::from_iter_in([Q::default()], s); //~ note
    ebbtide::collections::vec![in s; R::default()]; //~ note
    [S::default()].into_iter().collect_in::<Vec<_>>(s); //~ note
    NodeVec::<T>::new(); //~ note
    s.grow_vec::<U>(); //~ note
    s.map::<V, u8>(); //~ note
    let _: Set<'_, '_, W> = s.set(); //~ note
    let _: Map<'_, '_, u8, X> = s.map_with_capacity(1); //~ note
    Vec::from_array_in([Y::default()], s); //~ note
    let _ = Vec::try_from_array_in([Z::default()], s); //~ note
    Vec::from_elem_in(A1::default(), 2, s); //~ note
    [B1::default()].into_iter().collect_in::<NodeVec<_>>(s); //~ note
    let _ = Vec::try_from_elem_in(C1::default(), 2, s); //~ note
    s.map_with_capacity_and_hasher::<D1, u8, _>(1, RandomState::new()); //~ note
    s.set_with_hasher::<E1, _>(RandomState::new()); //~ note
    // An array of none needs no `Drop`, and its elements do.
    s.vec::<[F1; 0]>().into_flattened(); //~ note
    NodeVec::<[G1; 0]>::new().into_flattened(); //~ note
    s.map_with_hasher::<u8, u8, _>(H1::default()); //~ note
    s.map_with_capacity_and_hasher::<u8, u8, _>(1, H2::default()); //~ note
    s.set_with_hasher::<u8, _>(H3::default()); //~ note
    s.set_with_capacity_and_hasher::<u8, _>(1, H4::default()); //~ note
    let _ = Map::from(HashMap::<u8, u8, _, _>::with_hasher_in(H5::default(), &*s)); //~ note
    let _ = Set::from(HashSet::<u8, _, _>::with_hasher_in(H6::default(), &*s)); //~ note
    [(1_u8, 1_u8)].into_iter().collect_in::<Map<_, _, H7>>(s); //~ note
    [1_u8].into_iter().collect_in::<Set<_, H8>>(s); //~ note
    [(1_u8, J1::default())].into_iter().collect_in::<Map<_, _>>(s); //~ note
    [K1::default()].into_iter().collect_in::<Set<_>>(s); //~ note
}

fn main() {
    calls(&mut Arena::new().scope());
}
