#include "tool/frame_text.h"

#include "format/machine.h"

#include <inttypes.h>
#include <stdio.h>

void frame_register_text(char text[FRAME_TEXT_SIZE], uint32_t elf_mach, uint64_t reg)
{
    const struct machine *const machine = jd_machine(elf_mach);
    if (machine != NULL && reg < machine->register_count)
        snprintf(text, FRAME_TEXT_SIZE, "%s", machine->registers[reg]);
    else
        snprintf(text, FRAME_TEXT_SIZE, "r%" PRIu64, reg);
}

void frame_cfa_text(char text[FRAME_TEXT_SIZE], uint32_t elf_mach, const struct frame_rule *cfa)
{
    char name[FRAME_TEXT_SIZE];
    switch (cfa->kind) {
    case FRAME_OFFSET:
        frame_register_text(name, elf_mach, cfa->reg);
        snprintf(text, FRAME_TEXT_SIZE, "%.32s%+" PRId64, name, cfa->offset);
        break;
    case FRAME_UNSPECIFIED:
        snprintf(text, FRAME_TEXT_SIZE, "none");
        break;
    default:
        snprintf(text, FRAME_TEXT_SIZE, "exp");
    }
}

void frame_rule_text(char text[FRAME_TEXT_SIZE], uint32_t elf_mach, const struct frame_rule *rule)
{
    switch (rule->kind) {
    case FRAME_UNSPECIFIED:
        text[0] = '\0';
        break;
    case FRAME_UNDEFINED:
        snprintf(text, FRAME_TEXT_SIZE, "u");
        break;
    case FRAME_SAME_VALUE:
        snprintf(text, FRAME_TEXT_SIZE, "s");
        break;
    case FRAME_OFFSET:
        snprintf(text, FRAME_TEXT_SIZE, "c%+" PRId64, rule->offset);
        break;
    case FRAME_VAL_OFFSET:
        snprintf(text, FRAME_TEXT_SIZE, "v%+" PRId64, rule->offset);
        break;
    case FRAME_REGISTER:
        frame_register_text(text, elf_mach, rule->reg);
        break;
    case FRAME_EXPRESSION:
        snprintf(text, FRAME_TEXT_SIZE, "exp");
        break;
    case FRAME_VAL_EXPRESSION:
        snprintf(text, FRAME_TEXT_SIZE, "vexp");
    }
}
