#include <jitdump.h>

int main(void)
{
    const uint32_t header_version = JITDUMP_VERSION_MAJOR * 10000 + JITDUMP_VERSION_MINOR * 100 +
                                    JITDUMP_VERSION_PATCH;

    return jitdump_version() != header_version;
}
