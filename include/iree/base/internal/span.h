// iree::span: a pointer and a count, as std::span of C++20 is, for C++17.
#ifndef IREE_BASE_INTERNAL_SPAN_H_
#define IREE_BASE_INTERNAL_SPAN_H_

#ifndef __cplusplus
#error "This header is for C++."
#endif  // __cplusplus

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace iree {

inline constexpr std::size_t dynamic_extent = static_cast<std::size_t>(-1);

// Does not own what it points to.
template <typename T>
class span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = std::size_t;
  using pointer = T*;
  using reference = T&;
  using iterator = T*;

  constexpr span() noexcept = default;
  constexpr span(T* data, size_type size) noexcept : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  // Whatever has data() and size(): vectors, arrays, strings, other spans.
  template <typename Container,
            typename = std::enable_if_t<!std::is_same_v<std::remove_cv_t<std::remove_reference_t<Container>>, span> &&
                                        std::is_convertible_v<decltype(std::declval<Container&>().data()), T*> &&
                                        std::is_convertible_v<decltype(std::declval<Container&>().size()), size_type>>>
  constexpr span(Container&& container) noexcept : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr size_type size() const noexcept { return size_; }
  constexpr size_type size_bytes() const noexcept { return size_ * sizeof(T); }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T& operator[](size_type i) const noexcept { return data_[i]; }
  constexpr T& front() const noexcept { return data_[0]; }
  constexpr T& back() const noexcept { return data_[size_ - 1]; }
  constexpr iterator begin() const noexcept { return data_; }
  constexpr iterator end() const noexcept { return data_ + size_; }
  constexpr span subspan(size_type offset, size_type count = dynamic_extent) const noexcept {
    return span(data_ + offset, count == dynamic_extent ? size_ - offset : count);
  }
  constexpr span first(size_type count) const noexcept { return subspan(0, count); }
  constexpr span last(size_type count) const noexcept { return subspan(size_ - count, count); }

 private:
  T* data_ = nullptr;
  size_type size_ = 0;
};

}  // namespace iree

#endif  // IREE_BASE_INTERNAL_SPAN_H_
