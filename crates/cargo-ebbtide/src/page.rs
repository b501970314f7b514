//! Advice as a page for a browser: the table, and the stacks of all blocks.

use crate::{advice::Advice, measure::Findings, stacks::Node, table};
use serde_json::{Value, json};

/// The page without its data.
const TEMPLATE: &str = include_str!("page.html");

/// Where the data belongs in the page.
const PLACE: &str = "\"DATA\"";

/// Calls with a smaller share of the blocks are left out: they are no wider than a pixel.
const LEAST_SHARE: f64 = 0.001;

/// A call and its callees, those with the most blocks first.
fn tree(name: &str, node: &Node, least: f64) -> Value {
    let mut callees: Vec<_> =
        node.callees.iter().filter(|(_, callee)| callee.blocks >= least).collect();
    callees.sort_by(|(_, a), (_, b)| b.blocks.total_cmp(&a.blocks));
    let callees: Vec<Value> =
        callees.into_iter().map(|(name, callee)| tree(name, callee, least)).collect();
    json!({
        "name": name, "blocks": node.blocks, "bytes": node.bytes, "inside": node.inside,
        "kept": node.kept, "callees": callees,
    })
}

/// The page.
pub(crate) fn html(advice: &Advice, findings: Option<&Findings>, stacks: &Node) -> String {
    let row = |index: &usize| {
        let scope = &advice.all[*index];
        let tried = findings.and_then(|findings| findings.of(*index));
        json!({
            "name": scope.function.name, "cells": table::cells(scope, tried),
            "hints": table::hints(scope, tried),
        })
    };
    let data = json!({
        "sums": table::sums(advice), "no_rows": table::no_rows(advice, findings),
        "heads": table::HEADS, "rows": advice.chosen.iter().map(row).collect::<Vec<_>>(),
        "others": table::others(advice, findings),
        "scopes": table::json(advice, findings)["scopes"],
        "stacks": tree("all", stacks, stacks.blocks * LEAST_SHARE),
    });
    // No name can end the script, or begin a comment.
    TEMPLATE.replace(PLACE, &data.to_string().replace('<', "\\u003c"))
}
