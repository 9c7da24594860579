//! Functions for Cranelift to compile, and to run for so many seconds of processor time:
//!
//!     JITDUMP=1 jitdump-cranelift SECONDS
//!
//! Their source is this file: each instruction comes from the line that has made it, and some
//! bear its number in a constant. For who compares a profile with the truth, it prints where they
//! are and what their lines are.

mod jitdump_cranelift;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{types::I64, AbiParam, InstBuilder, SourceLoc, Value};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{default_libcall_names, FuncId, Linkage, Module};
use jitdump::{Dump, Options};
use jitdump_cranelift::Compiled;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/main.rs");

/// The constant by which an instruction shows its line.
const MARK: i64 = 0x4a44_0000;

/// An instruction of this line.
macro_rules! ins {
    ($builder:expr, $($instruction:tt)*) => {{
        $builder.set_srcloc(SourceLoc::new(line!()));
        $builder.ins().$($instruction)*
    }};
}

struct Program {
    dump: Dump,
    module: JITModule,
    compiled: Vec<Compiled>,
    truths: Vec<(FuncId, usize, String)>,
}

impl Program {
    fn define(&mut self, name: &str, callee: Option<FuncId>, body: Body) -> FuncId {
        let mut context = self.module.make_context();
        let signature = &mut context.func.signature;
        signature
            .params
            .extend([AbiParam::new(I64), AbiParam::new(I64)]);
        signature.returns.push(AbiParam::new(I64));
        let id = self
            .module
            .declare_function(name, Linkage::Export, signature)
            .unwrap();
        let callee = callee.map(|id| self.module.declare_func_in_func(id, &mut context.func));
        let mut frontend = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut context.func, &mut frontend);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let (x, rounds) = (
            builder.block_params(entry)[0],
            builder.block_params(entry)[1],
        );

        // for i in 0..rounds { x = body(x, i) }
        let (head, next, end) = (
            builder.create_block(),
            builder.create_block(),
            builder.create_block(),
        );
        for block in [head, next] {
            builder.append_block_param(block, I64);
            builder.append_block_param(block, I64);
        }
        builder.append_block_param(end, I64);
        let zero = ins!(builder, iconst(I64, 0));
        ins!(builder, jump(head, &[x.into(), zero.into()]));
        builder.switch_to_block(head);
        let (x, i) = (builder.block_params(head)[0], builder.block_params(head)[1]);
        let more = ins!(builder, icmp(IntCC::UnsignedLessThan, i, rounds));
        ins!(
            builder,
            brif(more, next, &[x.into(), i.into()], end, &[x.into()])
        );
        builder.switch_to_block(next);
        let (x, i) = (builder.block_params(next)[0], builder.block_params(next)[1]);
        let x = body(&mut builder, callee, x, i);
        let i = ins!(builder, iadd_imm_u(i, 1));
        ins!(builder, jump(head, &[x.into(), i.into()]));
        builder.switch_to_block(end);
        let x = builder.block_params(end)[0];
        ins!(builder, return_(&[x]));
        builder.seal_all_blocks();
        builder.finalize(self.module.target_config());

        self.compiled
            .push(Compiled::define(&self.dump, &mut self.module, id, name, &mut context).unwrap());

        let code = context.compiled_code().unwrap();
        let lines: Vec<[u32; 3]> = code
            .buffer
            .get_srclocs_sorted()
            .iter()
            .flat_map(|range| [[range.start, line_of(range.loc), 1], [range.end, 0, 1]])
            .collect();
        let truth =
            format!(r#""function": "{name}", "since": 0, "file": "main.rs", "lines": {lines:?}"#);
        self.truths.push((id, code.code_buffer().len(), truth));
        id
    }

    fn print_truth(&self) {
        let pid = std::process::id();
        for (id, size, truth) in &self.truths {
            let start = self.module.get_finalized_function(*id);
            let code = unsafe { std::slice::from_raw_parts(start, *size) };
            let hex: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
            println!(
                r#"{{{truth}, "pid": {pid}, "addr": {}, "size": {size}, "code": "{hex}"}}"#,
                start as u64
            );
        }
    }
}

type Body = fn(&mut FunctionBuilder, Option<cranelift_codegen::ir::FuncRef>, Value, Value) -> Value;

fn leaf(
    b: &mut FunctionBuilder,
    _: Option<cranelift_codegen::ir::FuncRef>,
    x: Value,
    i: Value,
) -> Value {
    let y = ins!(b, imul_imm_u(x, MARK + line!() as i64));
    let z = ins!(b, ushr_imm_u(y, 33));
    let y = ins!(b, bxor(y, z));
    let y = ins!(b, imul_imm_u(y, MARK + line!() as i64));
    ins!(b, iadd(y, i))
}

/// A call with values that live across it, in saved registers.
fn calling(
    b: &mut FunctionBuilder,
    callee: Option<cranelift_codegen::ir::FuncRef>,
    x: Value,
    i: Value,
) -> Value {
    let values: Vec<Value> = (1..7)
        .map(|n| ins!(b, imul_imm_u(x, n * 0x1111 + 1)))
        .collect();
    let rounds = ins!(b, band_imm_u(i, 63));
    let call = ins!(b, call(callee.unwrap(), &[x, rounds]));
    let mut x = b.inst_results(call)[0];
    for value in values {
        x = ins!(b, bxor(x, value));
    }
    ins!(b, imul_imm_u(x, MARK + line!() as i64))
}

fn main() {
    let seconds: f64 = std::env::args()
        .nth(1)
        .expect("a number of seconds")
        .parse()
        .unwrap();

    let mut flags = settings::builder();
    flags.set("opt_level", "speed").unwrap();
    let isa = cranelift_native::builder()
        .unwrap()
        .finish(settings::Flags::new(flags))
        .unwrap();
    let mut program = Program {
        dump: Dump::open_from_environment(&Options::default()).unwrap(),
        module: JITModule::new(JITBuilder::with_isa(isa, default_libcall_names())),
        compiled: Vec::new(),
        truths: Vec::new(),
    };
    let id = program.define("leaf", None, leaf);
    let id = program.define("middle", Some(id), calling);
    let id = program.define("outer", Some(id), calling);
    let run = program.define("run", Some(id), calling);
    program.module.finalize_definitions().unwrap();
    for function in &program.compiled {
        function.load(&program.dump, &program.module, FILE);
    }
    program.print_truth();

    let run = program.module.get_finalized_function(run);
    let run: extern "C" fn(u64, u64) -> u64 = unsafe { std::mem::transmute(run) };
    let mut x = 1;
    while cpu_seconds() < seconds {
        x = run(x, 8);
    }
    eprintln!("{x}");
}

fn line_of(location: SourceLoc) -> u32 {
    if location.is_default() {
        0
    } else {
        location.bits()
    }
}

fn cpu_seconds() -> f64 {
    extern "C" {
        fn clock() -> std::os::raw::c_long; // in microseconds, on Linux
    }
    unsafe { clock() as f64 / 1e6 }
}
