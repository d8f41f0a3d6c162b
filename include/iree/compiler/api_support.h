// Marks what libIREECompiler exports.
#ifndef IREE_COMPILER_API_SUPPORT_H_
#define IREE_COMPILER_API_SUPPORT_H_

#define IREE_EMBED_EXPORTED __attribute__((visibility("default")))

#endif  // IREE_COMPILER_API_SUPPORT_H_
