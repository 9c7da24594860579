/* Lets oneDNN generate code and run it for as many seconds as the argument says: a convolution, a matrix
 * product, and exponentials. */
#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(dnnl_status_t status)
{
    if (status != dnnl_success) {
        fprintf(stderr, "oneDNN: status %d\n", (int)status);
        exit(1);
    }
}

static dnnl_memory_t memory(dnnl_engine_t engine, int dims, const dnnl_dim_t *sizes,
                            dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t description;
    dnnl_memory_t made;
    void *data;
    check(dnnl_memory_desc_init_by_tag(&description, dims, sizes, dnnl_f32, tag));
    check(dnnl_memory_create(&made, &description, engine, DNNL_MEMORY_ALLOCATE));
    check(dnnl_memory_get_data_handle(made, &data));
    for (size_t i = 0; i < dnnl_memory_desc_get_size(&description) / sizeof(float); i++)
        ((float *)data)[i] = (float)(i % 17) / 16;
    return made;
}

static dnnl_memory_desc_t description_of(dnnl_memory_t of)
{
    const dnnl_memory_desc_t *description;
    check(dnnl_memory_get_memory_desc(of, &description));
    return *description;
}

static dnnl_primitive_t primitive(dnnl_engine_t engine, const_dnnl_op_desc_t operation)
{
    dnnl_primitive_desc_t description;
    dnnl_primitive_t made;
    check(dnnl_primitive_desc_create(&description, operation, NULL, engine, NULL));
    check(dnnl_primitive_create(&made, description));
    check(dnnl_primitive_desc_destroy(description));
    return made;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    const dnnl_dim_t image[] = {1, 16, 56, 56}, kernel[] = {16, 16, 3, 3};
    const dnnl_dim_t one[DNNL_MAX_NDIMS] = {1, 1}, square[] = {128, 128};
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    check(dnnl_engine_create(&engine, dnnl_cpu, 0));
    check(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));

    dnnl_memory_t from = memory(engine, 4, image, dnnl_nchw), to = memory(engine, 4, image, dnnl_nchw);
    dnnl_memory_t weights = memory(engine, 4, kernel, dnnl_oihw);
    dnnl_memory_t a = memory(engine, 2, square, dnnl_ab), b = memory(engine, 2, square, dnnl_ab);
    dnnl_memory_desc_t from_desc = description_of(from), to_desc = description_of(to);
    dnnl_memory_desc_t weights_desc = description_of(weights), square_desc = description_of(a);

    dnnl_convolution_desc_t convolution;
    check(dnnl_convolution_forward_desc_init(&convolution, dnnl_forward_inference,
                                             dnnl_convolution_direct, &from_desc, &weights_desc, NULL,
                                             &to_desc, one, one, one));
    dnnl_matmul_desc_t product;
    check(dnnl_matmul_desc_init(&product, &square_desc, &square_desc, NULL, &square_desc));
    dnnl_eltwise_desc_t exponential;
    check(dnnl_eltwise_forward_desc_init(&exponential, dnnl_forward_inference, dnnl_eltwise_logistic,
                                         &square_desc, 0, 0));
    dnnl_primitive_t primitives[] = {primitive(engine, &convolution), primitive(engine, &product),
                                     primitive(engine, &exponential)};
    const dnnl_exec_arg_t convolution_arguments[] = {
        {DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, to}};
    const dnnl_exec_arg_t product_arguments[] = {
        {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, b}};
    const dnnl_exec_arg_t exponential_arguments[] = {{DNNL_ARG_SRC, b}, {DNNL_ARG_DST, b}};
    const dnnl_exec_arg_t *arguments[] = {convolution_arguments, product_arguments,
                                          exponential_arguments};
    const int counts[] = {3, 3, 2};
    const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    int rounds = 0;
    for (; clock() < end; rounds++)
        for (int i = 0; i < 3; i++)
            check(dnnl_primitive_execute(primitives[i], stream, counts[i], arguments[i]));
    check(dnnl_stream_wait(stream));
    fprintf(stderr, "%d\n", rounds);
    return 0;
}
