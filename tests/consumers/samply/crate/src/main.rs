//! Prints a jitdump file as the crate linux-perf-data reads it, a line of JSON for each record:
//! the reader that samply uses.
use linux_perf_data::jitdump::{JitDumpReader, JitDumpRecord};
use linux_perf_data::linux_perf_event_reader::RawData;

fn text(data: &RawData) -> String {
    let text = String::from_utf8(data.as_slice().into_owned()).expect("UTF-8");
    assert!(!text.contains(['"', '\\', '\n']), "a name that JSON would escape");
    format!("\"{text}\"")
}

fn hex(data: &RawData) -> String {
    data.as_slice().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn main() {
    let path = std::env::args().nth(1).expect("usage: read-dump FILE");
    let file = std::fs::File::open(path).expect("the file opens");
    let mut reader = JitDumpReader::new(file).expect("a jitdump header");
    while let Some(record) = reader.next_record().expect("a whole record") {
        let id = record.record_type.0;
        match record.parse().expect("a record that parses") {
            JitDumpRecord::CodeLoad(load) => println!(
                "{{\"id\": {id}, \"name\": {}, \"addr\": {}, \"index\": {}, \"code\": \"{}\"}}",
                text(&load.function_name),
                load.code_addr,
                load.code_index,
                hex(&load.code_bytes)
            ),
            JitDumpRecord::CodeMove(moved) => println!(
                "{{\"id\": {id}, \"addr\": {}, \"index\": {}}}",
                moved.new_code_addr, moved.code_index
            ),
            JitDumpRecord::CodeDebugInfo(info) => {
                // As samply asks: for the address of each instruction, here of each byte.
                let end = info.entries.last().map_or(info.code_addr, |entry| entry.code_addr);
                let lines: Vec<String> = (info.code_addr..end)
                    .map(|addr| match info.lookup(addr) {
                        Some(entry) => format!(
                            "[{}, {}, {}]",
                            text(&entry.file_path),
                            entry.line,
                            entry.column
                        ),
                        None => "null".to_owned(),
                    })
                    .collect();
                println!("{{\"id\": {id}, \"lines\": [{}]}}", lines.join(", "));
            }
            JitDumpRecord::CodeClose => println!("{{\"id\": {id}}}"),
            JitDumpRecord::CodeUnwindingInfo(_) => println!("{{\"id\": {id}}}"),
            JitDumpRecord::Other(other) => {
                println!("{{\"id\": {id}, \"payload\": \"{}\"}}", hex(&other.body))
            }
        }
    }
}
