// What tests ask of the double of NCCL (nccl_double.c), beside its interface.
#ifndef TESTS_HAL_STREAM_NCCL_DOUBLE_H_
#define TESTS_HAL_STREAM_NCCL_DOUBLE_H_

// The next call of that entry point fails with that result.
typedef void (*nccl_double_fail_t)(const char* symbol, int result);
// What that rank starts next never ends, until the communicator is aborted; the error is told of it, and a remote one
// (6) of the others.
typedef void (*nccl_double_break_t)(int rank, int error);
// Communicators that are not given back.
typedef int (*nccl_double_live_t)(void);

#endif  // TESTS_HAL_STREAM_NCCL_DOUBLE_H_
