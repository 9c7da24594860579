/*
 * Removing what this program, or perf for it, has made.
 */
#ifndef JITDUMP_TOOL_REMOVE_TREE_H
#define JITDUMP_TOOL_REMOVE_TREE_H

/* A file, or a folder with all that is in it. What can't be removed is left. */
void remove_tree(const char *path);

#endif
