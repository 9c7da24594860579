//! Prints what the binding declares.

fn main() {
    println!("{}", jitdump::raw::layout::json());
}
