//! Decodes, changes and encodes Protocol Buffers messages.

use super::text::Numbers;
use prost::Message;
use std::collections::HashMap;

#[derive(Clone, PartialEq, Message)]
struct Voyage {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    ship: String,
    #[prost(message, repeated, tag = "3")]
    stops: Vec<Stop>,
    #[prost(map = "string, string", tag = "4")]
    papers: HashMap<String, String>,
    #[prost(bytes = "vec", tag = "5")]
    seal: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Stop {
    #[prost(string, tag = "1")]
    port: String,
    #[prost(sint64, tag = "2")]
    minutes: i64,
    #[prost(string, repeated, tag = "3")]
    cargo: Vec<String>,
    #[prost(message, optional, boxed, tag = "4")]
    pilot: Option<Box<Pilot>>,
}

#[derive(Clone, PartialEq, Message)]
struct Pilot {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(double, packed = "true", repeated, tag = "2")]
    depths: Vec<f64>,
}

pub(super) fn messages(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(16);
    let mut voyage = |id| {
        let mut stop = |minutes| Stop {
            port: numbers.words(1),
            minutes,
            cargo: (0..numbers.below(6)).map(|_| numbers.words(2)).collect(),
            pilot: (minutes % 2 == 0).then(|| {
                let depths = (0..numbers.below(20)).map(|_| numbers.share()).collect();
                Box::new(Pilot { name: numbers.words(2), depths })
            }),
        };
        let stops = (0..12).map(&mut stop).collect();
        let papers = (0..6).map(|n| (format!("paper {n}"), numbers.words(4))).collect();
        let ship = numbers.words(2);
        Voyage { id, ship, stops, papers, seal: vec![7; 64] }.encode_to_vec()
    };
    let encoded: Vec<Vec<u8>> = (0..size as u64).map(&mut voyage).collect();
    move || once(&encoded)
}

/// The minutes of all stops, and the bytes of all messages without their papers.
#[inline(never)]
fn once(encoded: &[Vec<u8>]) -> u64 {
    let mut sum = 0;
    for bytes in encoded {
        let mut voyage = Voyage::decode(&bytes[..]).expect("it was encoded");
        let minutes: i64 = voyage.stops.iter().map(|stop| stop.minutes).sum();
        voyage.papers.clear();
        let bytes = voyage.encode_to_vec().len() as u64;
        sum += u64::try_from(minutes).expect("none is negative") << 32 | bytes;
    }
    sum
}
