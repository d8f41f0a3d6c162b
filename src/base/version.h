// The version that every tool prints.
#ifndef IREE_C_BASE_VERSION_H_
#define IREE_C_BASE_VERSION_H_

#define IREE_C_VERSION "0.1.0"

#endif  // IREE_C_BASE_VERSION_H_
