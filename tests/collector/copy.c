/* A copy of Intel's client, as far as a collector can tell one from the other: by where its calls come
 * from. Built twice. */
unsigned int copy_notify(unsigned int (*notify)(unsigned int, void *), unsigned int event, void *data);

unsigned int copy_notify(unsigned int (*notify)(unsigned int, void *), unsigned int event, void *data)
{
    const unsigned int result = notify(event, data);
    __asm__ volatile("" ::: "memory"); /* no tail call: the return address is here */
    return result;
}
