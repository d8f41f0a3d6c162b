// What the kernels of this folder use, for AMD GPUs, NVIDIA GPUs and x86-64, where host.c makes work-items fibers.
//
// Each kernel is preceded by how to run it:
//   // RUN kernel grid=256 group=64 [lds=BYTES] [stack=BYTES] [tolerance=1e-6] args: in:f32:256 inout:u32:16 out:f64:9
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long i64;
typedef unsigned long u64;
typedef half f16;
typedef float f32;
typedef double f64;
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef uint u32x2 __attribute__((ext_vector_type(2)));
typedef uint u32x4 __attribute__((ext_vector_type(4)));
typedef half f16x2 __attribute__((ext_vector_type(2)));
typedef short i16x2 __attribute__((ext_vector_type(2)));

#ifdef __AMDGCN__
#define LANES __builtin_amdgcn_wavefrontsize()
static inline u32 item(void) { return __builtin_amdgcn_workitem_id_x(); }
static inline u32 group(void) { return __builtin_amdgcn_workgroup_id_x(); }
static inline u32 group_size(void) { return __builtin_amdgcn_workgroup_size_x(); }
static inline void barrier_local(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static inline u32 lane(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
#if defined(WAVE64) && !defined(__GFX12__)  // ds_bpermute stays within halves of a wave of 64
static inline i32 shuffle(i32 value, u32 from) {
  i32 found = 0;
  for (u32 k = 0; k < 64; ++k) found = (from & 63) == k ? __builtin_amdgcn_readlane(value, k) : found;
  return found;
}
#else
static inline i32 shuffle(i32 value, u32 from) { return __builtin_amdgcn_ds_bpermute((i32)(from << 2), value); }
#endif
#if defined(__GFX9__) || defined(WAVE64)
static inline u64 ballot(bool value) { return __builtin_amdgcn_ballot_w64(value); }
#else
static inline u64 ballot(bool value) { return __builtin_amdgcn_ballot_w32(value); }
#endif
static inline i32 first_lane(i32 value) { return __builtin_amdgcn_readfirstlane(value); }
#elif defined(__NVPTX__)
#define LANES 32
static inline u32 item(void) { return __nvvm_read_ptx_sreg_tid_x(); }
static inline u32 group(void) { return __nvvm_read_ptx_sreg_ctaid_x(); }
static inline u32 group_size(void) { return __nvvm_read_ptx_sreg_ntid_x(); }
static inline void barrier_local(void) { __syncthreads(); }
static inline u32 lane(void) { return item() % 32; }
static inline i32 shuffle(i32 value, u32 from) { return __nvvm_shfl_sync_idx_i32(~0u, value, from, 31); }
static inline u64 ballot(bool value) { return __nvvm_vote_ballot_sync(__nvvm_activemask(), value); }
// LLVM has these for AMD GPUs only.
#define __builtin_exp2f(x) __nvvm_ex2_approx_f(x)
#define __builtin_log2f(x) __nvvm_lg2_approx_f(x)
#define __builtin_expf(x) __nvvm_ex2_approx_f((x) * 1.44269504f)
#define __builtin_logf(x) (__nvvm_lg2_approx_f(x) * 0.69314718f)
#define __builtin_sinf(x) __nvvm_sin_approx_f(x)
#define __builtin_cosf(x) __nvvm_cos_approx_f(x)
static inline i32 first_lane(i32 value) {
  return __nvvm_shfl_sync_idx_i32(__nvvm_activemask(), value, __builtin_ctz(__nvvm_activemask()), 31);
}
#else
extern u32 host_item(void), host_group(void), host_group_size(void), host_lanes(void);
extern void host_barrier(void);
extern i32 host_shuffle(i32 value, u32 from);
extern u64 host_ballot(i32 value);
#define LANES host_lanes()
static inline u32 item(void) { return host_item(); }
static inline u32 group(void) { return host_group(); }
static inline u32 group_size(void) { return host_group_size(); }
static inline void barrier_local(void) { host_barrier(); }
static inline u32 lane(void) { return host_item() % host_lanes(); }
static inline i32 shuffle(i32 value, u32 from) { return host_shuffle(value, from); }
static inline u64 ballot(bool value) { return host_ballot(value); }
static inline i32 first_lane(i32 value) { return host_shuffle(value, 0); }
#endif
static inline u32 id(void) { return group() * group_size() + item(); }

#define GLOBAL __global
#define LOCAL __local
#define KERNEL __kernel __attribute__((amdgpu_flat_work_group_size(1, 1024)))
#ifndef __AMDGCN__
#undef KERNEL
#define KERNEL __kernel
#endif
#define ATOMIC(op, pointer, value) __atomic_##op(pointer, value, __ATOMIC_RELAXED)
