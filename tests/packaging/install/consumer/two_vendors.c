/* Two libraries that each have a copy of jitdump, whose patch levels are in the names. */
#include <stdio.h>

int vendor_101(const char *directory);
int vendor_102(const char *directory);

static int check(int found, int patch)
{
    if (found == patch)
        return 0;
    fprintf(stderr, "the copy with patch level %d got %d\n", patch, found);
    return 1;
}

int main(void)
{
    const int first = vendor_101("dumps"), second = vendor_102("dumps");
    return check(first, 101) | check(second, 102);
}
