// PTX -> machine code by NVIDIA's assembler, a program of CUDA's toolkit.
#ifndef IREE_C_TARGET_NVPTX_PTXAS_H_
#define IREE_C_TARGET_NVPTX_PTXAS_H_

#include "target/target.h"

// Assembles `executable`'s text for an architecture, "sm_80", into its `cubin`; what ptxas says on the way becomes its
// remarks. Without `tool->path` ptxas is looked for in PATH, then in the toolkit's folder: $CUDA_HOME, $CUDA_PATH,
// /usr/local/cuda. False after a message: ptxas is not there, or its own words.
bool ptxas_assemble(const target_ptxas_t* tool, const char* arch, target_executable_t* executable, text_t* error);

#endif  // IREE_C_TARGET_NVPTX_PTXAS_H_
