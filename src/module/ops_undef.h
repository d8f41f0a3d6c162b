// After each inclusion of ops.def: its row macros are forgotten. No include guard on purpose.
#undef FLOW
#undef OP
#undef UNARY
#undef BINARY
#undef TERNARY
#undef DIVIDE
#undef LOAD
#undef STORE
#undef HAL_LOAD
