//! Parses mail with mail-parser: headers, encoded words, parts and attachments.

use super::text::Numbers;
use mail_parser::{MessageParser, MimeHeaders};
use std::fmt::Write;

pub(super) fn letters(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(25);
    let letters: Vec<String> = (0..size).map(|id| letter(id, &mut numbers)).collect();
    move || once(&letters)
}

fn letter(id: usize, numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for hop in 0..4 {
        let (from, by) = (numbers.word(), numbers.word());
        write!(
            text,
            "Received: from {from}.example.org ([10.0.0.{hop}]) by {by}.example.org with ESMTPS \
             id {id}x{hop};\r\n\tFri, 07 Mar 2025 10:{hop}2:00 +0000\r\n"
        )
        .expect("a string takes all");
    }
    let to: Vec<String> = (0..1 + numbers.below(6))
        .map(|_| format!("\"{}\" <{}@example.org>", numbers.words(2), numbers.word()))
        .collect();
    write!(
        text,
        "From: =?utf-8?Q?Kapit=C3=A4n_{}?= <{}@example.org>\r\nTo: {}\r\nSubject: {}\r\n\
         Message-ID: <{id}@example.org>\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=\"outer\"\r\n\r\n\
         --outer\r\nContent-Type: multipart/alternative; boundary=\"inner\"\r\n\r\n\
         --inner\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Transfer-Encoding: quoted-printable\r\n\r\n{} =E2=80=93 {}\r\n\
         --inner\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>{} <b>{}</b></p>\r\n\
         --inner--\r\n",
        numbers.word(),
        numbers.word(),
        to.join(",\r\n\t"),
        numbers.words(5),
        numbers.words(40),
        numbers.words(10),
        numbers.words(20),
        numbers.words(3),
    )
    .expect("a string takes all");
    for file in 0..numbers.below(4) {
        write!(
            text,
            "--outer\r\nContent-Type: application/octet-stream; name=\"{}.bin\"\r\n\
             Content-Disposition: attachment; filename=\"{}{file}.bin\"\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n{}\r\n",
            numbers.word(),
            numbers.word(),
            "bG93IHdhdGVyLCBoaWdo".repeat(2 + numbers.below(9)),
        )
        .expect("a string takes all");
    }
    text + "--outer--\r\n"
}

/// The bytes of all names of attachments and of the texts, and the number of the recipients.
#[inline(never)]
fn once(letters: &[String]) -> u64 {
    let parser = MessageParser::default();
    let mut sum = 0;
    for letter in letters {
        let message = parser.parse(letter).expect("it is mail");
        let names = message.attachments().filter_map(|part| part.attachment_name());
        let bytes = names.map(str::len).sum::<usize>()
            + message.body_text(0).map_or(0, |text| text.len())
            + message.body_html(0).map_or(0, |text| text.len());
        let recipients = message.all_to().flat_map(|to| to.iter()).count();
        sum += (recipients as u64) << 32 | bytes as u64;
    }
    sum
}
