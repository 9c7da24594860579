//! Prints what the binding declares.

fn main() {
    println!("{}", jitdump::layout::json());
}
