//! A vector that is lent together with a scope keeps to the lifetimes of both, whatever it is
//! exchanged for.

use ebbtide::{Arena, Scope, collections::{NodeVec, Vec}};
use std::mem;

fn exchanged_for_one_of_a_child() {
    let mut arena = Arena::new();
    let parent = arena.scope();
    let mut node = NodeVec::new();
    {
        let claim = parent.claim();
        let mut other = NodeVec::new();
        other.push(claim.scope(), 1); //~ error[E0597]
        mem::swap(&mut *node.with(&parent), &mut *other.with(claim.scope()));
    }
    assert_eq!(node, [1]);
}

fn replaced_by_one_of_another_arena<'a>(node: &mut NodeVec<'a, u32>, s: &Scope<'a>) {
    let mut other = Arena::new();
    let scope = other.scope(); //~ error[E0597]
    mem::swap(&mut *node.with(s), &mut *NodeVec::new().with(&scope));
}

fn lent_with_a_scope_that_ends() {
    let mut arena = Arena::new();
    let parent = arena.scope();
    let mut node = NodeVec::new();
    let mut lent;
    {
        let claim = parent.claim();
        lent = node.with(claim.scope()); //~ error[E0597]
    }
    lent.push(1);
}

fn used_while_it_is_lent(s: &Scope<'_>) {
    let mut node = NodeVec::new();
    let mut lent = node.with(s);
    node.push(s, 1); //~ error[E0499]
    lent.push(2);
}

fn taken_out_and_kept_longer_than_its_scope<'a>(s: Scope<'a>) -> Vec<'a, 'a, u32> {
    let mut node = NodeVec::<u32>::new();
    node.with(&s).push(1);
    node.into_vec(&s) //~ error[E0515]
}

fn main() {
    exchanged_for_one_of_a_child();
    lent_with_a_scope_that_ends();
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut node = NodeVec::new();
    replaced_by_one_of_another_arena(&mut node, &s);
    used_while_it_is_lent(&s);
    taken_out_and_kept_longer_than_its_scope(s);
}
