/* Preloaded in front of LLVM's library: writes where each function is that a program asks LLVM for, as LLVM says
 * it, to the file $LLVM_POINTERS. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *LLVMGetPointerToGlobal(void *engine, void *function);

typedef void *pointer_to_global(void *engine, void *function);
typedef const char *value_name(void *value, size_t *size);

void *LLVMGetPointerToGlobal(void *engine, void *function)
{
    pointer_to_global *get;
    value_name *name_of;
    void *const found[] = {dlsym(RTLD_NEXT, "LLVMGetPointerToGlobal"), dlsym(RTLD_NEXT, "LLVMGetValueName2")};
    memcpy(&get, &found[0], sizeof(get));
    memcpy(&name_of, &found[1], sizeof(name_of));
    void *const address = get(engine, function);
    FILE *const file = fopen(getenv("LLVM_POINTERS"), "a");
    size_t size;
    if (file != NULL) {
        fprintf(file, "%p %s\n", address, name_of(function, &size));
        fclose(file);
    }
    return address;
}
