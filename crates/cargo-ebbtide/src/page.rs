//! Advice as a page for a browser: the frames of all stacks, as wide as their blocks.

use crate::{
    advice::{Advice, is_of_the_runtime},
    lifetimes::Lifetimes,
    measure::Findings,
    symbols::Symbols,
    table,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The page without its data.
const TEMPLATE: &str = include_str!("page.html");

/// Where the data belongs in the page.
const PLACE: &str = "\"DATA\"";

/// Frames with a smaller share of the blocks are left out.
const LEAST_SHARE: f64 = 0.002;

/// The calls of a function from one stack.
#[derive(Default)]
struct Node {
    blocks: f64,
    /// The blocks that are freed before the call ends.
    inside: f64,
    bytes: f64,
    callees: BTreeMap<String, Node>,
}

impl Node {
    fn json(&self, name: &str, least: f64) -> Value {
        let shown = self.callees.iter().filter(|(_, callee)| callee.blocks >= least);
        let callees: Vec<Value> = shown.map(|(name, callee)| callee.json(name, least)).collect();
        json!({
            "name": name, "blocks": self.blocks, "inside": self.inside, "bytes": self.bytes,
            "callees": callees,
        })
    }
}

/// The page.
pub(crate) fn html(
    advice: &Advice,
    findings: Option<&Findings>,
    lifetimes: &Lifetimes,
    symbols: &Symbols,
) -> String {
    let mut root = Node::default();
    for block in &lifetimes.blocks {
        let weight = block.weight;
        root.blocks += weight;
        let mut at = &mut root;
        for (depth, frame) in lifetimes.path(block.frame).into_iter().enumerate() {
            let function = symbols.function(&lifetimes.modules, lifetimes.frames[frame].address);
            if !function.is_named || is_of_the_runtime(&function.name) {
                continue;
            }
            at = at.callees.entry(function.name).or_default();
            at.blocks += weight;
            at.bytes += block.size as f64 * weight;
            if depth < block.alive {
                at.inside += weight;
            }
        }
    }
    let frames = root.json("all", root.blocks * LEAST_SHARE);
    let data = json!({ "advice": table::json(advice, findings), "frames": frames });
    // A name cannot end the script.
    TEMPLATE.replace(PLACE, &data.to_string().replace("</", "<\\/"))
}
