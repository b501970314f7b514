//! Reads a PDF document with lopdf, changes its pages and writes it.

use super::text::Numbers;
use lopdf::{
    Document, Object, Stream,
    content::{Content, Operation},
    dictionary,
};

pub(super) fn documents(size: usize) -> impl Fn() -> u64 {
    let bytes = create(size).expect("it can be written");
    move || once(&bytes)
}

fn create(size: usize) -> lopdf::Result<Vec<u8>> {
    let mut numbers = Numbers::new(30);
    let mut document = Document::with_version("1.5");
    let pages = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
    });
    let mut kids = Vec::new();
    for _ in 0..size {
        let mut operations =
            vec![Operation::new("BT", vec![]), Operation::new("Tf", vec!["F1".into(), 12.into()])];
        for line in 0..12 {
            operations.push(Operation::new("Td", vec![0.into(), (-14 * line).into()]));
            let text = Object::string_literal(numbers.words(5));
            operations.push(Operation::new("Tj", vec![text]));
        }
        operations.push(Operation::new("ET", vec![]));
        let content = Content { operations }.encode()?;
        let content = document.add_object(Stream::new(dictionary! {}, content));
        let page = document.add_object(dictionary! {
            "Type" => "Page",
            "Parent" => pages,
            "Contents" => content,
            "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
            "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        });
        kids.push(page.into());
    }
    document.objects.insert(
        pages,
        dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => size as i64 }.into(),
    );
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes)?;
    Ok(bytes)
}

/// The number of the lines that were changed, and the bytes of the document.
#[inline(never)]
fn once(bytes: &[u8]) -> u64 {
    edit(bytes).expect("it is PDF")
}

fn edit(bytes: &[u8]) -> lopdf::Result<u64> {
    let mut document = Document::load_mem(bytes)?;
    let mut changed = 0;
    for (number, page) in document.get_pages() {
        let mut content = document.get_and_decode_page_content(page)?;
        for operation in &mut content.operations {
            if operation.operator == "Tj" {
                let text = operation.operands[0].as_str()?.to_ascii_uppercase();
                operation.operands[0] = Object::string_literal(text);
                changed += 1;
            }
        }
        document.change_page_content(page, content.encode()?)?;
        document.get_dictionary_mut(page)?.set("Rotate", i64::from(number % 4) * 90);
    }
    let mut written = Vec::new();
    document.save_to(&mut written)?;
    Ok(changed << 32 | written.len() as u64)
}
