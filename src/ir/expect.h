// Diagnostics that a text says it must give: comments `// expected-error @+1 {{part of the message}}`. Kinds are error,
// warning, remark and note; places are nothing (this line), @+N, @-N, @below, @above and @unknown.
#ifndef IREE_C_IR_EXPECT_H_
#define IREE_C_IR_EXPECT_H_

#include "ir/ir.h"

typedef struct expect_t expect_t;

// Reads the comments of `text`. NULL after a message in `problem` when one of them is malformed.
expect_t* expect_create(const char* text, size_t size, text_t* problem);
void expect_destroy(expect_t* expect);
// An ir_diagnostic_fn_t; `user` is the expect_t.
void expect_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* rendered);
// True when every expected diagnostic came and, with `no_others`, no error or warning else; what is wrong is appended
// to `problem`.
bool expect_finish(expect_t* expect, const char* path, bool no_others, text_t* problem);

#endif  // IREE_C_IR_EXPECT_H_
