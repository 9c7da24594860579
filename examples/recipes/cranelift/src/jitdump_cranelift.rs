//! Describes what `cranelift-jit` has compiled to libjitdump: names, lines, call frames.

use cranelift_codegen::gimli::write::{
    Address, CallFrameInstruction, EhFrame, EndianVec, FrameTable,
};
use cranelift_codegen::gimli::{LittleEndian, X86_64};
use cranelift_codegen::isa::unwind::{systemv, UnwindInfo};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::Context;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module, ModuleReloc, ModuleResult};
use jitdump::{Code, Dump, LineRow};

/// A function that is compiled, and not yet at its place.
pub struct Compiled {
    id: FuncId,
    name: String,
    size: usize,
    /// `SourceLoc::bits()` are taken for a line.
    lines: Vec<LineRow>,
    frame: Option<systemv::UnwindInfo>,
}

impl Compiled {
    /// In place of `define_function()`: leaves room behind the function for its frames, as perf needs it.
    pub fn define(
        dump: &Dump,
        module: &mut JITModule,
        id: FuncId,
        name: &str,
        context: &mut Context,
    ) -> ModuleResult<Compiled> {
        context.compile(module.isa(), &mut Default::default())?;
        let code = context.compiled_code().expect("a compiled function");
        let bytes = code.code_buffer();
        let row = |code_offset, line| LineRow {
            code_offset,
            file: 0,
            line,
            column: 0,
        };
        let mut lines = Vec::new();
        for location in code.buffer.get_srclocs_sorted() {
            let known = !location.loc.is_default();
            lines.push(row(
                location.start,
                if known { location.loc.bits() } else { 0 },
            ));
            lines.push(row(location.end, 0)); // up to the next, which counts if it begins here
        }
        let compiled = Compiled {
            id,
            name: name.into(),
            size: bytes.len(),
            lines,
            frame: match code.create_unwind_info(module.isa()) {
                Ok(Some(UnwindInfo::SystemV(frame))) => Some(frame),
                _ => None,
            },
        };
        let room = dump.unwind_size(&Code {
            eh_frame: &compiled.eh_frame(module.isa(), bytes).unwrap_or_default(),
            ..Code::new(name, bytes.as_ptr() as u64, bytes)
        });
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len() + room.unwrap_or(0) as usize, 0);
        let relocs: Vec<_> = (code.buffer.relocs().iter())
            .map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, id))
            .collect();
        module.define_function_bytes(id, code.buffer.alignment.into(), &padded, &relocs)?;
        Ok(compiled)
    }

    /// Call it after `finalize_definitions()`. `file` is where the lines are.
    pub fn load(&self, dump: &Dump, module: &JITModule, file: &str) {
        let start = module.get_finalized_function(self.id);
        let code = unsafe { std::slice::from_raw_parts(start, self.size) };
        let eh_frame = self.eh_frame(module.isa(), code).unwrap_or_default();
        // Of errors JITDUMP=debug tells.
        let _ = dump.load(&Code {
            line_rows: &self.lines,
            files: &[file.into()],
            eh_frame: &eh_frame,
            ..Code::new(&self.name, start as u64, code)
        });
    }

    fn eh_frame(&self, isa: &dyn TargetIsa, code: &[u8]) -> Option<Vec<u8>> {
        let start = code.as_ptr() as u64;
        let mut fde = self.frame.as_ref()?.to_fde(Address::Constant(start));
        // Cranelift leaves out what holds between `pop rbp` and `ret`.
        for offset in
            (1..code.len() as u32).filter(|&at| code[..=at as usize].ends_with(&[0x5d, 0xc3]))
        {
            fde.add_instruction(offset, CallFrameInstruction::RememberState);
            fde.add_instruction(offset, CallFrameInstruction::Cfa(X86_64::RSP, 8));
            fde.add_instruction(offset, CallFrameInstruction::Restore(X86_64::RBP));
            fde.add_instruction(offset + 1, CallFrameInstruction::RestoreState);
        }
        let mut table = FrameTable::default();
        let cie = table.add_cie(isa.create_systemv_cie()?);
        table.add_fde(cie, fde);
        let mut section = EhFrame(EndianVec::new(LittleEndian));
        table.write_eh_frame(&mut section).ok()?;
        Some(section.0.into_vec())
    }
}
