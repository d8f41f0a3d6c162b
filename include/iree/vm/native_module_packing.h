// How C++ methods take and return what VM calls carry: the calling convention of a method, and a function that unpacks
// arguments, calls it, and packs its result. Used by native_module_cc.h.
//
//   C++                                      letter
//   int32_t, uint32_t                        i
//   int64_t, uint64_t                        I
//   float, double                            f, F
//   T* (registered; NULL is accepted)        r        borrowed during the call
//   ref<T>, const ref<T>, opaque_ref         r        another reference
//   std::string_view, iree_string_view_t     r        the bytes of a !vm.buffer; empty for NULL
//   std::array<T, N>, std::tuple<...>        each in turn
//   span<const T>                            C..D     a count and so many T: numbers, T*, ref<T>
#ifndef IREE_VM_NATIVE_MODULE_PACKING_H_
#define IREE_VM_NATIVE_MODULE_PACKING_H_

#ifndef __cplusplus
#error "This header is for C++."
#endif  // __cplusplus

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "iree/base/api.h"
#include "iree/base/internal/span.h"
#include "iree/base/status_cc.h"
#include "iree/vm/buffer.h"
#include "iree/vm/module.h"
#include "iree/vm/ref.h"
#include "iree/vm/stack.h"

namespace iree {
namespace vm {
namespace packing {

template <typename T>
using bare_t = std::remove_cv_t<std::remove_reference_t<T>>;

//===----------------------------------------------------------------------------------------------------------------===
// Calling conventions
//===----------------------------------------------------------------------------------------------------------------===

template <std::size_t N>
struct letters_t {
  char data[N + 1] = {};
};

template <std::size_t N>
constexpr letters_t<N - 1> make_letters(const char (&text)[N]) {
  letters_t<N - 1> result;
  for (std::size_t i = 0; i + 1 < N; ++i) result.data[i] = text[i];
  return result;
}

template <std::size_t A, std::size_t B>
constexpr letters_t<A + B> operator+(const letters_t<A>& a, const letters_t<B>& b) {
  letters_t<A + B> result;
  for (std::size_t i = 0; i < A; ++i) result.data[i] = a.data[i];
  for (std::size_t i = 0; i < B; ++i) result.data[A + i] = b.data[i];
  return result;
}

// For each type: `letters()`; `held_t`, what keeps an argument during the call; `unpack` and `pass`; `pack` for
// results.
template <typename T, typename Enable = void>
struct value_traits;

template <typename... Ts>
constexpr auto letters_of() {
  return (make_letters("") + ... + value_traits<bare_t<Ts>>::letters());
}

//===----------------------------------------------------------------------------------------------------------------===
// Packed lists: C structs of their fields, naturally aligned
//===----------------------------------------------------------------------------------------------------------------===

class cursor_t {
 public:
  explicit cursor_t(iree_byte_span_t storage) : storage_(storage) {}

  // The next field, or nullptr behind the end.
  template <typename T>
  T* next() {
    std::size_t alignment = alignof(T) > 8 ? 8 : alignof(T);
    std::size_t start = (offset_ + alignment - 1) & ~(alignment - 1);
    if (start > storage_.data_length || storage_.data_length - start < sizeof(T)) return nullptr;
    offset_ = start + sizeof(T);
    return reinterpret_cast<T*>(storage_.data + start);
  }

 private:
  iree_byte_span_t storage_;
  std::size_t offset_ = 0;
};

inline Status MissingField() {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the packed list is shorter than the function's signature");
}

template <typename T, char Letter>
struct number_traits {
  static constexpr auto letters() { return letters_t<1>{{Letter, 0}}; }
  using held_t = T;
  static Status unpack(cursor_t& cursor, held_t& held) {
    const T* field = cursor.next<T>();
    if (!field) return MissingField();
    held = *field;
    return OkStatus();
  }
  static T pass(held_t& held) { return held; }
  static Status pack(cursor_t& cursor, T value) {
    T* field = cursor.next<T>();
    if (!field) return MissingField();
    *field = value;
    return OkStatus();
  }
};
template <>
struct value_traits<std::int32_t> : number_traits<std::int32_t, 'i'> {};
template <>
struct value_traits<std::uint32_t> : number_traits<std::uint32_t, 'i'> {};
template <>
struct value_traits<std::int64_t> : number_traits<std::int64_t, 'I'> {};
template <>
struct value_traits<std::uint64_t> : number_traits<std::uint64_t, 'I'> {};
template <>
struct value_traits<float> : number_traits<float, 'f'> {};
template <>
struct value_traits<double> : number_traits<double, 'F'> {};

//===----------------------------------------------------------------------------------------------------------------===
// References
//===----------------------------------------------------------------------------------------------------------------===

// The object of a type, or nullptr for a null reference.
template <typename T>
Status Borrow(cursor_t& cursor, T*& out) {
  const iree_vm_ref_t* field = cursor.next<iree_vm_ref_t>();
  out = nullptr;
  if (!field) return MissingField();
  if (field->type == IREE_VM_REF_TYPE_NULL) return OkStatus();
  IREE_RETURN_IF_ERROR(iree_vm_ref_check(*field, ref_type_descriptor<T>::type()));
  out = static_cast<T*>(field->ptr);
  return OkStatus();
}

template <typename T>
struct value_traits<T*, std::enable_if_t<!std::is_arithmetic_v<T>>> {
  static constexpr auto letters() { return make_letters("r"); }
  using held_t = T*;
  static Status unpack(cursor_t& cursor, held_t& held) { return Borrow<T>(cursor, held); }
  static T* pass(held_t& held) { return held; }
};

template <typename T>
struct value_traits<ref<T>> {
  static constexpr auto letters() { return make_letters("r"); }
  using held_t = ref<T>;
  static Status unpack(cursor_t& cursor, held_t& held) {
    T* object = nullptr;
    IREE_RETURN_IF_ERROR(Borrow<T>(cursor, object));
    held = retain_ref<T>(object);
    return OkStatus();
  }
  static ref<T>&& pass(held_t& held) { return std::move(held); }
  static Status pack(cursor_t& cursor, ref<T>&& value) {
    iree_vm_ref_t* field = cursor.next<iree_vm_ref_t>();
    if (!field) return MissingField();
    T* object = value.release();
    *field = object ? iree_vm_ref_t{object, ref_type_descriptor<T>::type()} : iree_vm_ref_null();
    return OkStatus();
  }
};

template <>
struct value_traits<opaque_ref> {
  static constexpr auto letters() { return make_letters("r"); }
  using held_t = opaque_ref;
  static Status unpack(cursor_t& cursor, held_t& held) {
    iree_vm_ref_t* field = cursor.next<iree_vm_ref_t>();
    if (!field) return MissingField();
    iree_vm_ref_retain(field, held.get());
    return OkStatus();
  }
  static opaque_ref&& pass(held_t& held) { return std::move(held); }
  static Status pack(cursor_t& cursor, opaque_ref&& value) {
    iree_vm_ref_t* field = cursor.next<iree_vm_ref_t>();
    if (!field) return MissingField();
    *field = std::exchange(*value.get(), iree_vm_ref_null());
    return OkStatus();
  }
};

template <typename T>
struct text_traits {
  static constexpr auto letters() { return make_letters("r"); }
  using held_t = T;
  static Status unpack(cursor_t& cursor, held_t& held) {
    iree_vm_buffer_t* buffer = nullptr;
    held = T{};
    IREE_RETURN_IF_ERROR(Borrow<iree_vm_buffer_t>(cursor, buffer));
    if (!buffer) return OkStatus();
    iree_string_view_t text = iree_vm_buffer_as_string(buffer);
    held = T{text.data, text.size};
    return OkStatus();
  }
  static T pass(held_t& held) { return held; }
};
template <>
struct value_traits<std::string_view> : text_traits<std::string_view> {};
template <>
struct value_traits<iree_string_view_t> : text_traits<iree_string_view_t> {};

//===----------------------------------------------------------------------------------------------------------------===
// Several values
//===----------------------------------------------------------------------------------------------------------------===

template <typename T, std::size_t N>
struct value_traits<std::array<T, N>> {
  using traits = value_traits<T>;
  template <std::size_t... I>
  static constexpr auto repeat(std::index_sequence<I...>) {
    return (make_letters("") + ... + ((void)I, traits::letters()));
  }
  static constexpr auto letters() { return repeat(std::make_index_sequence<N>()); }
  using held_t = std::array<typename traits::held_t, N>;
  static Status unpack(cursor_t& cursor, held_t& held) {
    for (auto& item : held) IREE_RETURN_IF_ERROR(traits::unpack(cursor, item));
    return OkStatus();
  }
  static std::array<T, N> pass(held_t& held) {
    std::array<T, N> values;
    for (std::size_t i = 0; i < N; ++i) values[i] = traits::pass(held[i]);
    return values;
  }
  static Status pack(cursor_t& cursor, std::array<T, N>&& values) {
    for (auto& value : values) IREE_RETURN_IF_ERROR(traits::pack(cursor, std::move(value)));
    return OkStatus();
  }
};

template <typename... Ts>
struct value_traits<std::tuple<Ts...>> {
  static constexpr auto letters() { return letters_of<Ts...>(); }
  using held_t = std::tuple<typename value_traits<bare_t<Ts>>::held_t...>;
  template <std::size_t... I>
  static Status unpack_all(cursor_t& cursor, held_t& held, std::index_sequence<I...>) {
    Status status;
    (void)((status = value_traits<bare_t<Ts>>::unpack(cursor, std::get<I>(held)), status.ok()) && ...);
    return status;
  }
  static Status unpack(cursor_t& cursor, held_t& held) {
    return unpack_all(cursor, held, std::index_sequence_for<Ts...>());
  }
  template <std::size_t... I>
  static std::tuple<Ts...> pass_all(held_t& held, std::index_sequence<I...>) {
    return std::tuple<Ts...>(value_traits<bare_t<Ts>>::pass(std::get<I>(held))...);
  }
  static std::tuple<Ts...> pass(held_t& held) { return pass_all(held, std::index_sequence_for<Ts...>()); }
  template <std::size_t... I>
  static Status pack_all(cursor_t& cursor, std::tuple<Ts...>&& values, std::index_sequence<I...>) {
    Status status;
    (void)((status = value_traits<bare_t<Ts>>::pack(cursor, std::move(std::get<I>(values))), status.ok()) && ...);
    return status;
  }
  static Status pack(cursor_t& cursor, std::tuple<Ts...>&& values) {
    return pack_all(cursor, std::move(values), std::index_sequence_for<Ts...>());
  }
};

template <typename T>
struct value_traits<span<T>> {
  using item_t = std::remove_cv_t<T>;
  using traits = value_traits<item_t>;
  static constexpr auto letters() { return make_letters("C") + traits::letters() + make_letters("D"); }
  using held_t = std::vector<item_t>;
  static Status unpack(cursor_t& cursor, held_t& held) {
    const std::int32_t* count = cursor.next<std::int32_t>();
    if (!count || *count < 0) return MissingField();
    for (std::int32_t i = 0; i < *count; ++i) {
      typename traits::held_t item{};
      IREE_RETURN_IF_ERROR(traits::unpack(cursor, item));
      held.push_back(traits::pass(item));
    }
    return OkStatus();
  }
  static span<T> pass(held_t& held) { return span<T>(held.data(), held.size()); }
};

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

template <typename Results, typename... Params>
struct convention_t {
  static constexpr auto arguments = letters_of<Params...>();
  static constexpr auto make() {
    if constexpr (sizeof...(Params) == 0) {
      return make_letters("0v_") + Results::letters();
    } else {
      return make_letters("0") + arguments + make_letters("_") + Results::letters();
    }
  }
  static constexpr auto value = make();
  static iree_string_view_t view() { return iree_make_string_view(value.data, sizeof(value.data) - 1); }
};

struct no_results_t {
  static constexpr auto letters() { return make_letters("v"); }
};

// Unpacks `call.arguments` and passes them to `method`, in the order of its parameters.
template <typename... Params>
struct arguments_t {
  using tuple_t = std::tuple<typename value_traits<bare_t<Params>>::held_t...>;
  template <typename Method, std::size_t... I>
  static auto apply_all(Method&& method, tuple_t& held, std::index_sequence<I...>) {
    (void)held;
    return method(value_traits<bare_t<Params>>::pass(std::get<I>(held))...);
  }
  template <std::size_t... I>
  static Status unpack_all(cursor_t& cursor, tuple_t& held, std::index_sequence<I...>) {
    Status status;
    (void)cursor, (void)held;
    (void)((status = value_traits<bare_t<Params>>::unpack(cursor, std::get<I>(held)), status.ok()) && ...);
    return status;
  }
  static Status unpack(iree_byte_span_t storage, tuple_t& held) {
    cursor_t cursor(storage);
    return unpack_all(cursor, held, std::index_sequence_for<Params...>());
  }
  template <typename Method>
  static auto apply(Method&& method, tuple_t& held) {
    return apply_all(std::forward<Method>(method), held, std::index_sequence_for<Params...>());
  }
};

}  // namespace packing

// Methods are kept as pointers of one type, and called as what they are.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"

// A method that a module exports; MakeNativeFunction makes them.
template <typename Owner>
struct NativeFunction {
  iree_string_view_t name;
  iree_string_view_t cconv;
  void (Owner::* const ptr)();
  iree_status_t (*const call)(void (Owner::*ptr)(), Owner* self, iree_vm_stack_t* stack, iree_vm_function_call_t call);
};

template <typename Owner, typename Result, typename... Params>
NativeFunction<Owner> MakeNativeFunction(const char* name, StatusOr<Result> (Owner::*fn)(Params...)) {
  using method_t = StatusOr<Result> (Owner::*)(Params...);
  return {{name, std::string_view(name).size()},
          packing::convention_t<packing::value_traits<Result>, Params...>::view(),
          reinterpret_cast<void (Owner::*)()>(fn),
          [](void (Owner::*ptr)(), Owner* self, iree_vm_stack_t*, iree_vm_function_call_t call) -> iree_status_t {
            using arguments = packing::arguments_t<Params...>;
            typename arguments::tuple_t held;
            IREE_RETURN_IF_ERROR(arguments::unpack(call.arguments, held));
            auto method = [&](auto&&... values) {
              return (self->*reinterpret_cast<method_t>(ptr))(std::forward<decltype(values)>(values)...);
            };
            IREE_ASSIGN_OR_RETURN(Result result, arguments::apply(method, held));
            packing::cursor_t cursor(call.results);
            return packing::value_traits<Result>::pack(cursor, std::move(result));
          }};
}

template <typename Owner, typename... Params>
NativeFunction<Owner> MakeNativeFunction(const char* name, Status (Owner::*fn)(Params...)) {
  using method_t = Status (Owner::*)(Params...);
  return {{name, std::string_view(name).size()},
          packing::convention_t<packing::no_results_t, Params...>::view(),
          reinterpret_cast<void (Owner::*)()>(fn),
          [](void (Owner::*ptr)(), Owner* self, iree_vm_stack_t*, iree_vm_function_call_t call) -> iree_status_t {
            using arguments = packing::arguments_t<Params...>;
            typename arguments::tuple_t held;
            IREE_RETURN_IF_ERROR(arguments::unpack(call.arguments, held));
            auto method = [&](auto&&... values) {
              return (self->*reinterpret_cast<method_t>(ptr))(std::forward<decltype(values)>(values)...);
            };
            return arguments::apply(method, held);
          }};
}

#pragma GCC diagnostic pop

}  // namespace vm
}  // namespace iree

#endif  // IREE_VM_NATIVE_MODULE_PACKING_H_
