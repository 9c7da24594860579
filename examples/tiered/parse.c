/* Source text -> trees, each with its listing as the code of a stack machine. */
#define _GNU_SOURCE
#include "tiered.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct program *program;
    const char *at;
    uint32_t line;
    const char *line_start;
    /* The function that is being read, and the names of its locals. */
    struct function *function;
    char locals[LOCALS_MAX][32];
    FILE *listing;
    uint32_t instruction;
};

static _Noreturn void fail(const struct parser *parser, const char *what)
{
    die("%s:%u: %s", parser->program->path, parser->line, what);
}

static void skip_space(struct parser *parser)
{
    for (;; parser->at++) {
        if (*parser->at == '#')
            parser->at += strcspn(parser->at, "\n");
        if (*parser->at == '\n') {
            parser->line++;
            parser->line_start = parser->at + 1;
        } else if (!isspace((unsigned char)*parser->at)) {
            return;
        }
    }
}

/* A name or keyword is here, if `word` is NULL; or just this one. */
static bool take_word(struct parser *parser, char name[32], const char *word)
{
    skip_space(parser);
    size_t length = 0;
    while (isalnum((unsigned char)parser->at[length]) || parser->at[length] == '_')
        length++;
    if (length == 0 || length > 31 || isdigit((unsigned char)parser->at[0]) ||
        (word != NULL && (strlen(word) != length || strncmp(parser->at, word, length) != 0)))
        return false;
    if (name != NULL)
        snprintf(name, 32, "%.*s", (int)length, parser->at);
    parser->at += length;
    return true;
}

static bool take(struct parser *parser, char c)
{
    skip_space(parser);
    if (*parser->at != c)
        return false;
    parser->at++;
    return true;
}

static void expect(struct parser *parser, char c)
{
    if (!take(parser, c)) {
        char what[] = "'?' expected";
        what[1] = c;
        fail(parser, what);
    }
}

static void expect_word(struct parser *parser, const char *word)
{
    if (!take_word(parser, NULL, word))
        fail(parser, "if, then, else, sum, of: one of them is missing");
}

static struct node *new_node(struct parser *parser, enum kind kind)
{
    skip_space(parser);
    struct node *node = calloc(1, sizeof(*node));
    if (node == NULL)
        die("out of memory");
    node->kind = kind;
    node->line = parser->line;
    node->column = (uint32_t)(parser->at - parser->line_start) + 1;
    return node;
}

/* The next line of the listing is the node's instruction. */
__attribute__((format(printf, 3, 4))) static void
list(struct parser *parser, struct node *node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(parser->listing, format, arguments);
    va_end(arguments);
    fputc('\n', parser->listing);
    node->instruction = ++parser->instruction;
}

static void add_operand(struct node *node, struct node *operand)
{
    node->operands[node->operand_count++] = operand;
}

static uint32_t add_local(struct parser *parser, const char *name)
{
    if (parser->function->local_count == LOCALS_MAX)
        fail(parser, "too many names in a function");
    strcpy(parser->locals[parser->function->local_count], name);
    return parser->function->local_count++;
}

static struct node *parse_expression(struct parser *parser);

static struct node *parse_if(struct parser *parser, struct node *node)
{
    node->kind = IF;
    add_operand(node, parse_expression(parser));
    expect(parser, '<');
    add_operand(node, parse_expression(parser));
    list(parser, node, "jump_unless_less else");
    expect_word(parser, "then");
    add_operand(node, parse_expression(parser));
    expect_word(parser, "else");
    add_operand(node, parse_expression(parser));
    return node;
}

static struct node *parse_sum(struct parser *parser, struct node *node)
{
    char name[32];
    node->kind = SUM;
    if (!take_word(parser, name, NULL))
        fail(parser, "a name is missing");
    expect(parser, '<');
    add_operand(node, parse_expression(parser));
    node->local = add_local(parser, name);
    list(parser, node, "sum %s", name);
    expect_word(parser, "of");
    add_operand(node, parse_expression(parser));
    return node;
}

static struct node *parse_call(struct parser *parser, struct node *node, const char *name)
{
    node->kind = CALL;
    while (node->function < parser->program->function_count &&
           strcmp(parser->program->functions[node->function].name, name) != 0)
        node->function++;
    if (node->function == parser->program->function_count)
        fail(parser, "a call of a function that is not above");
    if (!take(parser, ')')) {
        do {
            if (node->operand_count == PARAMETERS_MAX)
                fail(parser, "too many arguments");
            add_operand(node, parse_expression(parser));
        } while (take(parser, ','));
        expect(parser, ')');
    }
    if (node->operand_count != parser->program->functions[node->function].parameter_count)
        fail(parser, "another number of arguments than of parameters");
    list(parser, node, "call %s", name);
    return node;
}

static struct node *parse_name(struct parser *parser, struct node *node, const char *name)
{
    if (take(parser, '('))
        return parse_call(parser, node, name);
    for (uint32_t i = parser->function->local_count; i-- > 0;)
        if (strcmp(parser->locals[i], name) == 0) {
            node->kind = VARIABLE;
            node->local = i;
            list(parser, node, "load %s", name);
            return node;
        }
    fail(parser, "an unknown name");
}

static struct node *parse_factor(struct parser *parser)
{
    if (take(parser, '(')) {
        struct node *inner = parse_expression(parser);
        expect(parser, ')');
        return inner;
    }
    struct node *node = new_node(parser, NUMBER);
    char name[32];
    if (take_word(parser, NULL, "if"))
        return parse_if(parser, node);
    if (take_word(parser, NULL, "sum"))
        return parse_sum(parser, node);
    if (take_word(parser, name, NULL))
        return parse_name(parser, node, name);
    char *end;
    const long value = strtol(parser->at, &end, 10);
    if (end == parser->at || value > INT32_MAX || value < 0)
        fail(parser, "an expression is missing, or a number too large");
    parser->at = end;
    node->value = (int32_t)value;
    list(parser, node, "push %ld", value);
    return node;
}

/* The operator is where the node is. */
static struct node *parse_operator(struct parser *parser, struct node *left, enum kind kind,
                                   const char *name,
                                   struct node *(*parse_right)(struct parser *parser))
{
    struct node *node = new_node(parser, kind);
    node->column--; /* the operator is taken already */
    add_operand(node, left);
    add_operand(node, parse_right(parser));
    list(parser, node, "%s", name);
    return node;
}

static struct node *parse_product(struct parser *parser)
{
    struct node *left = parse_factor(parser);
    while (take(parser, '*'))
        left = parse_operator(parser, left, MULTIPLY, "multiply", parse_factor);
    return left;
}

static struct node *parse_expression(struct parser *parser)
{
    struct node *left = parse_product(parser);
    for (;;) {
        if (take(parser, '+'))
            left = parse_operator(parser, left, ADD, "add", parse_product);
        else if (take(parser, '-'))
            left = parse_operator(parser, left, SUBTRACT, "subtract", parse_product);
        else
            return left;
    }
}

static void parse_function(struct parser *parser)
{
    if (parser->program->function_count == FUNCTIONS_MAX)
        fail(parser, "too many functions");
    struct function *function = &parser->program->functions[parser->program->function_count];
    char name[32];
    parser->function = function;
    if (!take_word(parser, name, NULL))
        fail(parser, "a function is missing");
    memcpy(function->name, name, sizeof(name));
    function->line = parser->line;
    snprintf(function->listing_path, sizeof(function->listing_path), "%s.bytecode", name);
    parser->listing = open_memstream(&function->listing, &function->listing_size);
    parser->instruction = 0;
    if (parser->listing == NULL)
        die("out of memory");
    expect(parser, '(');
    do {
        if (!take_word(parser, name, NULL) || function->parameter_count == PARAMETERS_MAX)
            fail(parser, "one to three parameters are needed");
        add_local(parser, name);
        function->parameter_count++;
    } while (take(parser, ','));
    expect(parser, ')');
    expect(parser, '=');
    function->body = parse_expression(parser);
    fputs("return\n", parser->listing);
    fclose(parser->listing);
    parser->program->function_count++;
}

void parse(struct program *program, const char *path)
{
    program->path = realpath(path, NULL);
    FILE *file = program->path != NULL ? fopen(program->path, "r") : NULL;
    if (file == NULL)
        die("%s: %s", path, strerror(errno));
    char *text = NULL;
    size_t size = 0;
    if (getdelim(&text, &size, '\0', file) < 0)
        die("%s: empty", path);
    fclose(file);
    struct parser parser = {.program = program, .at = text, .line = 1, .line_start = text};
    for (skip_space(&parser); *parser.at != '\0'; skip_space(&parser))
        parse_function(&parser);
    free(text);
}
