/* Names, files and lines of methods, asked of the virtual machine. */
#define _GNU_SOURCE
#include "agent.h"

#include <stdlib.h>
#include <string.h>

/* A class's name in a descriptor has slashes for dots. That of a hidden class ends in a dot and a
 * number, which Java writes with a slash. */
static char *put_class(char *out, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        *out++ = name[i] == '/' ? '.' : name[i] == '.' ? '/' : name[i];
    return out;
}

static char *put_text(char *out, const char *text)
{
    const size_t length = strlen(text);
    memcpy(out, text, length);
    return out + length;
}

static const char *primitive_name(char letter)
{
    switch (letter) {
    case 'Z':
        return "boolean";
    case 'B':
        return "byte";
    case 'C':
        return "char";
    case 'S':
        return "short";
    case 'I':
        return "int";
    case 'J':
        return "long";
    case 'F':
        return "float";
    default:
        return "double";
    }
}

/* The type at the descriptor's start; returns what follows it. */
static const char *put_type(char **out, const char *descriptor)
{
    size_t dimensions = strspn(descriptor, "[");
    descriptor += dimensions;
    if (*descriptor == 'L') {
        const size_t length = strcspn(descriptor, ";");
        *out = put_class(*out, descriptor + 1, length - 1);
        descriptor += length;
    } else {
        *out = put_text(*out, primitive_name(*descriptor));
    }
    while (dimensions-- > 0)
        *out = put_text(*out, "[]");
    return descriptor + 1;
}

/* "Ljava/lang/String;", "charAt" and "(I)C" into "java.lang.String.charAt(int)". */
static char *make_name(const char *class_signature, const char *method, const char *descriptor)
{
    /* Nothing grows more than a Z, into "boolean, ". */
    char *name = malloc(strlen(class_signature) + strlen(method) + 9 * strlen(descriptor) + 3);
    if (name == NULL)
        return NULL;
    char *out = name;
    put_type(&out, class_signature);
    *out++ = '.';
    out = put_text(out, method);
    *out++ = '(';
    for (const char *rest = descriptor + 1; *rest != ')';) {
        if (rest != descriptor + 1)
            out = put_text(out, ", ");
        rest = put_type(&out, rest);
    }
    *out++ = ')';
    *out = '\0';
    return name;
}

/* The package's folder and the file's name, below a root that only the user knows. */
static char *make_file(const char *class_signature, const char *source_name)
{
    const char *slash = strrchr(class_signature, '/');
    const size_t folder_length = slash != NULL ? (size_t)(slash - class_signature) : 0;
    char *file = malloc(folder_length + strlen(source_name) + 1);
    if (file == NULL)
        return NULL;
    memcpy(file, class_signature + 1, folder_length);
    strcpy(file + folder_length, source_name);
    return file;
}

/* HotSpot has one id for all native methods of this class, so that it gives each the name of one:
 * the linkers, generated for each signature, behind method handles. */
static bool is_linker(jvmtiEnv *jvmti, jmethodID id, const char *class_signature)
{
    jboolean native;
    return strcmp(class_signature, "Ljava/lang/invoke/MethodHandle;") == 0 &&
           (*jvmti)->IsMethodNative(jvmti, id, &native) == JVMTI_ERROR_NONE && native;
}

bool method_read(struct method *method, jvmtiEnv *jvmti, jmethodID id)
{
    jclass class;
    char *class_signature = NULL, *name = NULL, *descriptor = NULL, *source_name = NULL;
    *method = (struct method){.id = id};
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, class, &class_signature, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL) == JVMTI_ERROR_NONE) {
        method->name = is_linker(jvmti, id, class_signature)
                           ? strdup("java.lang.invoke.MethodHandle (linker)")
                           : make_name(class_signature, name, descriptor);
        /* Native and generated methods have none of the two. */
        if ((*jvmti)->GetSourceFileName(jvmti, class, &source_name) == JVMTI_ERROR_NONE)
            method->file = make_file(class_signature, source_name);
        (*jvmti)->GetLineNumberTable(jvmti, id, &method->line_count, &method->lines);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)class_signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)source_name);
    return method->name != NULL;
}

void method_free(struct method *method, jvmtiEnv *jvmti)
{
    free(method->name);
    free(method->file);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)method->lines);
}

uint32_t method_line(const struct method *method, jint bytecode_index)
{
    /* The method's entry, before its first instruction, has a negative one. */
    const jlocation location = bytecode_index > 0 ? bytecode_index : 0;
    const jvmtiLineNumberEntry *found = NULL;
    /* Compilers need not write them in order. */
    for (jint i = 0; i < method->line_count; i++) {
        const jvmtiLineNumberEntry *line = &method->lines[i];
        if (line->start_location <= location &&
            (found == NULL || line->start_location >= found->start_location))
            found = line;
    }
    return found != NULL ? (uint32_t)found->line_number : 0;
}
