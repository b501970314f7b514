//! Answers DNS messages with hickory-proto: decodes queries, looks their names up, encodes the answers.

use super::text::Numbers;
use hickory_proto::{
    op::{Message, MessageType, OpCode, Query},
    rr::{
        Name, RData, Record, RecordType,
        rdata::{A, MX, TXT},
    },
};
use std::{collections::HashMap, net::Ipv4Addr};

type Zone = HashMap<Name, Vec<Record>>;

fn host(words: &str) -> Name {
    let name = format!("{}.example.org.", words.replace(' ', "."));
    Name::from_ascii(name).expect("it is a name")
}

pub(super) fn queries(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(23);
    let mut zone = Zone::new();
    let mut queries = Vec::new();
    for id in 0..size {
        let name = host(&numbers.words(3));
        let records = zone.entry(name.clone()).or_default();
        for _ in 0..1 + numbers.below(4) {
            let address = Ipv4Addr::new(10, 0, 7, numbers.below(256) as u8);
            let data = match numbers.below(3) {
                0 => RData::A(A(address)),
                1 => RData::MX(MX::new(10, host(&numbers.words(2)))),
                _ => RData::TXT(TXT::new(vec![numbers.words(3), numbers.words(2)])),
            };
            records.push(Record::from_rdata(name.clone(), 300, data));
        }
        let mut query = Message::new(id as u16, MessageType::Query, OpCode::Query);
        query.add_query(Query::query(name, RecordType::ANY));
        queries.push(query.to_vec().expect("it is short"));
    }
    move || once(&zone, &queries)
}

/// The number of the answers' records, and the bytes of the answers.
#[inline(never)]
fn once(zone: &Zone, queries: &[Vec<u8>]) -> u64 {
    let mut sum = 0;
    for bytes in queries {
        let query = Message::from_vec(bytes).expect("it was encoded");
        let mut answer = Message::response(query.metadata.id, OpCode::Query);
        for question in query.queries {
            answer.add_answers(zone[&question.name].iter().cloned());
            answer.add_query(question);
        }
        let bytes = answer.to_vec().expect("it is short");
        let received = Message::from_vec(&bytes).expect("it was encoded");
        sum += (received.answers.len() as u64) << 32 | bytes.len() as u64;
    }
    sum
}
