#include "reader/life_index.h"

#include "reader/numbers.h"

/* The root is node 1; below node n are 2n and 2n + 1; the leaf of the i-th cut, from there to the next, is
 * cut_count + i. */

void jd_life_index_free(struct life_index *index)
{
    free(index->cuts);
    free(index->begins);
    free(index->members);
    free(index->nearest);
    free(index->earliest);
    *index = (struct life_index){0};
}

static bool find_cuts(struct life_index *index, uint32_t count)
{
    index->cuts = malloc((2 * (size_t)count + 1) * sizeof(*index->cuts));
    if (index->cuts == NULL || count > UINT32_MAX / 4)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        index->cuts[2 * (size_t)i] = index->lives[i].address;
        index->cuts[2 * (size_t)i + 1] = index->lives[i].end;
    }
    numbers_sort(index->cuts, 2 * (uint64_t)count);
    index->cut_count = (uint32_t)numbers_keep_once(index->cuts, 2 * (uint64_t)count);
    return true;
}

/* How many cuts are at the address or below. */
static uint32_t count_until(const struct life_index *index, uint64_t address)
{
    return numbers_until(index->cuts, index->cut_count, address);
}

/* The nodes that a life is made up of. */
struct walk {
    uint32_t low, high; /* what is left, at one level of the tree */
};

static struct walk walk_over(const struct life_index *index, uint32_t life)
{
    return (struct walk){index->cut_count + count_until(index, index->lives[life].address) - 1,
                         index->cut_count + count_until(index, index->lives[life].end) - 1};
}

/* 0: there are no more. */
static uint32_t next_node(struct walk *walk)
{
    while (walk->low < walk->high) {
        if (walk->low % 2 != 0)
            return walk->low++;
        if (walk->high % 2 != 0)
            return --walk->high;
        walk->low /= 2;
        walk->high /= 2;
    }
    return 0;
}

static void find_nearest(struct life_index *index)
{
    index->nearest[0] = 0;
    for (size_t node = 1; node < 2 * (size_t)index->cut_count; node++)
        index->nearest[node] = index->begins[node] != index->begins[node + 1] ? (uint32_t)node
                                                                             : index->nearest[node / 2];
}

static bool add_lives(struct life_index *index, uint32_t count)
{
    const size_t nodes = 2 * (size_t)index->cut_count;
    index->begins = calloc(nodes + 2, sizeof(*index->begins));
    index->nearest = malloc((nodes + 1) * sizeof(*index->nearest));
    index->earliest = malloc((nodes + 1) * sizeof(*index->earliest));
    if (index->begins == NULL || index->nearest == NULL || index->earliest == NULL)
        return false;
    for (size_t node = 0; node <= nodes; node++)
        index->earliest[node] = UINT64_MAX;
    /* How many are in each node, two places behind where its number will be wanted. */
    for (uint32_t i = 0; i < count; i++) {
        struct walk walk = walk_over(index, i);
        for (uint32_t node; (node = next_node(&walk)) != 0;)
            index->begins[(size_t)node + 2]++;
    }
    for (size_t node = 2; node < nodes + 2; node++)
        index->begins[node] += index->begins[node - 1];
    index->members = malloc(((size_t)index->begins[nodes + 1] + 1) * sizeof(*index->members));
    if (index->members == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct walk walk = walk_over(index, i);
        for (uint32_t node; (node = next_node(&walk)) != 0;)
            index->members[index->begins[(size_t)node + 1]++] = i;
    }
    find_nearest(index);
    return true;
}

bool jd_life_index_init(struct life_index *index, const struct indexed_life *lives, uint32_t count)
{
    *index = (struct life_index){.lives = lives};
    return find_cuts(index, count) && add_lives(index, count);
}

/* How many of the node's lives, from `begin` to `end`, had begun. */
static uint64_t count_begun(const struct life_index *index, uint64_t begin, uint64_t end, uint64_t time)
{
    const uint64_t first = begin;
    while (begin < end) {
        const uint64_t middle = begin + (end - begin) / 2;
        if (index->lives[index->members[middle]].from <= time)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin - first;
}

uint32_t jd_life_index_leaf(const struct life_index *index, uint64_t address)
{
    const uint32_t cuts = count_until(index, address);
    return cuts == 0 || cuts == index->cut_count ? 0 : index->cut_count + cuts - 1;
}

bool jd_life_index_ask(const struct life_index *index, uint32_t leaf, uint64_t time,
                       bool (*found)(void *context, uint32_t life), void *context)
{
    for (uint32_t node = index->nearest[leaf]; node != 0; node = index->nearest[node / 2]) {
        const uint64_t begin = index->begins[node];
        for (uint64_t i = count_begun(index, begin, index->begins[node + 1], time); i > 0; i--) {
            const uint32_t life = index->members[begin + i - 1];
            if (index->lives[life].until <= time)
                break;
            if (!found(context, life))
                return false;
        }
    }
    return true;
}

uint32_t jd_life_index_last(const struct life_index *index, uint32_t leaf, uint64_t time)
{
    uint32_t last = UINT32_MAX;
    for (uint32_t node = index->nearest[leaf]; node != 0; node = index->nearest[node / 2]) {
        const uint64_t begin = index->begins[node];
        const uint64_t count = count_begun(index, begin, index->begins[node + 1], time);
        const uint32_t life = count != 0 ? index->members[begin + count - 1] : UINT32_MAX;
        if (life != UINT32_MAX && (last == UINT32_MAX || life > last))
            last = life;
    }
    return last;
}

uint32_t jd_life_index_next(const struct life_index *index, uint32_t leaf, uint64_t time)
{
    uint32_t next = UINT32_MAX;
    for (uint32_t node = index->nearest[leaf]; node != 0; node = index->nearest[node / 2]) {
        const uint64_t begin = index->begins[node], end = index->begins[node + 1];
        const uint64_t first = begin + count_begun(index, begin, end, time);
        if (first < end && index->members[first] < next)
            next = index->members[first];
    }
    return next;
}

void jd_life_index_note(struct life_index *index, uint32_t leaf, uint64_t time)
{
    if (time < index->earliest[leaf])
        index->earliest[leaf] = time;
}

void jd_life_index_settle(struct life_index *index)
{
    for (size_t node = index->cut_count; node-- > 1;) {
        const uint64_t left = index->earliest[2 * node], right = index->earliest[2 * node + 1];
        index->earliest[node] = left < right ? left : right;
    }
}

bool jd_life_index_is_early(const struct life_index *index, uint32_t life)
{
    struct walk walk = walk_over(index, life);
    for (uint32_t node; (node = next_node(&walk)) != 0;)
        if (index->earliest[node] < index->lives[life].from)
            return true;
    return false;
}
