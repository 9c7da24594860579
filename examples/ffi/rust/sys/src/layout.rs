//! This crate's declarations as JSON, in the form of tests/jitdump_tests/layout.py.


pub(crate) struct Struct {
    pub name: &'static str,
    pub size: usize,
    pub fields: Vec<(&'static str, usize, usize)>,
}

/// An object with one member to a line.
fn object(members: Vec<(&str, String)>) -> String {
    let lines: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("\"{}\": {}", name, value))
        .collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

pub fn json() -> String {
    let structs = crate::structs()
        .into_iter()
        .map(|item| {
            let fields = item.fields.iter();
            let fields =
                fields.map(|(name, offset, size)| (*name, format!("[{}, {}]", offset, size)));
            let fields = object(fields.collect());
            (
                item.name,
                format!("{{\"size\": {}, \"fields\": {}}}", item.size, fields),
            )
        })
        .collect();
    let constants = crate::constants()
        .into_iter()
        .map(|(name, value)| (name, value.to_string()));
    let functions = crate::functions()
        .into_iter()
        .map(|(name, sizes)| (name, format!("{:?}", sizes)));
    object(vec![
        ("structs", object(structs)),
        ("constants", object(constants.collect())),
        ("functions", object(functions.collect())),
    ])
}
