/* C++ exceptions pass through generated functions that the process's unwinder knows by
 * jitdump_unwind_eh_frame(), and restore the registers that those have saved. */
extern "C" {
#include "functions.h"

/* libgcc's. */
void __register_frame(void *eh_frame);
void __deregister_frame(void *eh_frame);
}

#include <cstdio>
#include <memory>
#include <vector>

static void throw_number(struct link *)
{
    throw 42;
}

/* Its values stay in preserved registers over the call: the compiler can't compute them anew. */
__attribute__((noinline)) static int call_and_catch(struct link *links)
{
    int a = 100, b = 200, c = 300, d = 400, e = 500;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
    try {
        call_chain(links);
    } catch (int number) {
        return number + a + b + c + d + e;
    }
    return -1;
}

int main(int argc, char **argv)
{
    functions_place(functions_memory(), 0, nullptr);
    std::vector<std::unique_ptr<uint64_t[]>> eh_frames;
    for (const struct function &function : functions) {
        const struct jitdump_code code = function_code(&function);
        uint64_t size;
        jitdump_unwind_eh_frame(0, &code, nullptr, 0, &size);
        eh_frames.emplace_back(new uint64_t[size / 8 + 1]);
        check(jitdump_unwind_eh_frame(0, &code, eh_frames.back().get(), size, &size));
        __register_frame(eh_frames.back().get());
    }

    const struct function *chain[CHAIN_MAX];
    struct link links[CHAIN_MAX];
    const size_t length = chain_parse(argc, argv, chain);
    chain_link(chain, length, links);
    links[length - 1].code_addr = reinterpret_cast<uintptr_t>(throw_number);

    const int result = call_and_catch(links);
    for (auto &eh_frame : eh_frames)
        __deregister_frame(eh_frame.get());
    std::printf("%d\n", result);
    return result == 42 + 100 + 200 + 300 + 400 + 500 ? 0 : 1;
}
