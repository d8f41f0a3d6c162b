// References in C++: iree::vm::ref<T> owns one reference to a T, opaque_ref one to an object of any type. Both are laid
// out as an iree_vm_ref_t, convert to a pointer to it and so go wherever the C functions take one. Reached through
// iree/vm/ref.h.
#ifndef IREE_VM_REF_CC_H_
#define IREE_VM_REF_CC_H_

#ifndef __cplusplus
#error "iree/vm/ref_cc.h is for C++"
#endif

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "iree/base/api.h"
#include "iree/vm/ref.h"

namespace iree {
namespace vm {

// `type()` and `get()` (the descriptor) of a registered T: IREE_VM_DECLARE_TYPE_ADAPTERS specializes it. Types that are
// not registered have no descriptor, and IREE_VM_REF_TYPE_NULL for a type.
template <typename T>
struct ref_type_descriptor {
  static iree_vm_ref_type_t type();
};

// NULL is accepted.
template <typename T>
inline void ref_type_retain(T* object) {
  iree_vm_ref_object_retain(object, ref_type_descriptor<T>::type());
}
template <typename T>
inline void ref_type_release(T* object) {
  iree_vm_ref_object_release(object, ref_type_descriptor<T>::type());
}

// What C++ objects that the VM knows derive from: `class Thing : public RefObject<Thing>`. They are born with one
// reference and deleted with the last, by a static `Delete(T*)` where T has one. DirectDestroy and offsetof_counter are
// for the type's descriptor.
template <typename T>
class RefObject {
 public:
  void AddReference() { counter_.fetch_add(1, std::memory_order_relaxed); }
  void ReleaseReference() {
    if (counter_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy(static_cast<T*>(this), 0);
  }
  static void DirectDestroy(void* object) { Destroy(static_cast<T*>(object), 0); }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // no virtual bases here
  static constexpr std::size_t offsetof_counter() { return offsetof(T, counter_) / IREE_VM_REF_COUNTER_ALIGNMENT; }
#pragma GCC diagnostic pop

 protected:
  RefObject() = default;
  RefObject(const RefObject&) {}
  RefObject& operator=(const RefObject&) { return *this; }

  std::atomic<std::int32_t> counter_{1};

 private:
  template <typename U>
  static auto Destroy(U* object, int) -> decltype(U::Delete(object)) {
    return U::Delete(object);
  }
  template <typename U>
  static void Destroy(U* object, long) {
    delete object;
  }
};

template <typename T>
class ref {
 public:
  ref() noexcept = default;
  ref(std::nullptr_t) noexcept {}
  // Takes over the caller's reference.
  ref(T* object) noexcept { set(object); }
  ref(const ref& other) noexcept : value_(other.value_) { ref_type_retain<T>(get()); }
  ref(ref&& other) noexcept : value_(std::exchange(other.value_, iree_vm_ref_null())) {}
  template <typename U>
  ref(ref<U>&& other) noexcept {
    set(static_cast<T*>(other.release()));
  }
  ~ref() { reset(); }

  // Copies are said: retain_ref.
  ref& operator=(const ref&) = delete;
  ref& operator=(ref&& other) noexcept {
    swap(other);
    if (this != std::addressof(other)) other.reset();
    return *this;
  }
  template <typename U>
  ref& operator=(ref<U>&& other) noexcept {
    assign(static_cast<T*>(other.release()));
    return *this;
  }

  void reset() noexcept {
    if (T* object = release()) ref_type_release<T>(object);
  }
  // Gives the reference to the caller.
  T* release() noexcept { return static_cast<T*>(std::exchange(value_, iree_vm_ref_null()).ptr); }
  // Takes over the caller's reference.
  void assign(T* object) noexcept {
    reset();
    set(object);
  }
  void swap(ref& other) noexcept { std::swap(value_, other.value_); }

  T* get() const noexcept { return static_cast<T*>(value_.ptr); }
  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  iree_vm_ref_type_t type() const noexcept { return value_.type; }
  operator bool() const noexcept { return value_.ptr != nullptr; }
  bool operator!() const noexcept { return value_.ptr == nullptr; }
  operator iree_vm_ref_t*() const noexcept { return &value_; }

  // A T** for functions that give back a new reference; what it held is the caller's to have released.
  class Assignment {
   public:
    explicit Assignment(iree_vm_ref_t* value) : value_(value) {}
    ~Assignment() { value_->type = value_->ptr ? ref_type_descriptor<T>::type() : IREE_VM_REF_TYPE_NULL; }
    operator T**() noexcept { return reinterpret_cast<T**>(&value_->ptr); }

   private:
    iree_vm_ref_t* value_;
  };
  Assignment operator&() noexcept { return Assignment(&value_); }

 private:
  void set(T* object) noexcept {
    if (!object) return;
    value_.ptr = object;
    value_.type = ref_type_descriptor<T>::type();
  }

  mutable iree_vm_ref_t value_ = {nullptr, IREE_VM_REF_TYPE_NULL};
};

// A new object, with the reference that it is born with.
template <typename T, typename... Args>
inline ref<T> make_ref(Args&&... args) {
  return ref<T>(new T(std::forward<Args>(args)...));
}
// Another reference.
template <typename T>
inline ref<T> retain_ref(T* object) {
  ref_type_retain<T>(object);
  return ref<T>(object);
}
template <typename T>
inline ref<T> retain_ref(const ref<T>& other) {
  return retain_ref<T>(other.get());
}
// The caller's reference.
template <typename T>
inline ref<T> assign_ref(T* object) {
  return ref<T>(object);
}

template <typename T, typename U>
inline bool operator==(const ref<T>& lhs, const ref<U>& rhs) {
  return lhs.get() == rhs.get();
}
template <typename T, typename U>
inline bool operator!=(const ref<T>& lhs, const ref<U>& rhs) {
  return lhs.get() != rhs.get();
}
template <typename T, typename U>
inline bool operator==(const ref<T>& lhs, U* rhs) {
  return lhs.get() == rhs;
}
template <typename T, typename U>
inline bool operator!=(const ref<T>& lhs, U* rhs) {
  return lhs.get() != rhs;
}
template <typename T>
inline bool operator<(const ref<T>& lhs, const ref<T>& rhs) {
  return lhs.get() < rhs.get();
}
template <typename T>
inline void swap(ref<T>& lhs, ref<T>& rhs) {
  lhs.swap(rhs);
}

class opaque_ref {
 public:
  opaque_ref() = default;
  opaque_ref(const opaque_ref&) = delete;
  opaque_ref& operator=(const opaque_ref&) = delete;
  opaque_ref(opaque_ref&& other) noexcept { iree_vm_ref_move(&other.value_, &value_); }
  opaque_ref& operator=(opaque_ref&& other) noexcept {
    iree_vm_ref_move(&other.value_, &value_);
    return *this;
  }
  ~opaque_ref() { iree_vm_ref_release(&value_); }

  iree_vm_ref_t* get() const noexcept { return &value_; }
  operator iree_vm_ref_t*() const noexcept { return &value_; }
  iree_vm_ref_t* operator&() noexcept { return &value_; }
  bool operator!() const noexcept { return !value_.ptr; }

 private:
  mutable iree_vm_ref_t value_ = {nullptr, IREE_VM_REF_TYPE_NULL};
};

}  // namespace vm
}  // namespace iree

#define IREE_VM_DECLARE_CC_TYPE_LOOKUP(name, T)                                                              \
  namespace iree {                                                                                           \
  namespace vm {                                                                                             \
  template <>                                                                                                \
  struct ref_type_descriptor<T> {                                                                            \
    static inline iree_vm_ref_type_t type() { return name##_type(); }                                        \
    static inline const iree_vm_ref_type_descriptor_t* get() { return iree_vm_ref_type_descriptor(type()); } \
  };                                                                                                         \
  }                                                                                                          \
  }

// Types that are not registered and have functions of their own for their lifetime.
#define IREE_VM_DECLARE_CC_TYPE_ADAPTERS(name, T)                             \
  namespace iree {                                                            \
  namespace vm {                                                              \
  template <>                                                                 \
  struct ref_type_descriptor<T> {                                             \
    static inline iree_vm_ref_type_t type() { return IREE_VM_REF_TYPE_NULL; } \
  };                                                                          \
  template <>                                                                 \
  inline void ref_type_retain<T>(T * object) {                                \
    name##_retain(object);                                                    \
  }                                                                           \
  template <>                                                                 \
  inline void ref_type_release<T>(T * object) {                               \
    name##_release(object);                                                   \
  }                                                                           \
  }                                                                           \
  }

#endif  // IREE_VM_REF_CC_H_
