// Statuses that own themselves, for C++: Status, and StatusOr with a value.
//
//   StatusOr<int> Parse(std::string_view text);
//   Status Run() {
//     IREE_ASSIGN_OR_RETURN(int count, Parse("4"));
//     IREE_RETURN_IF_ERROR(iree_hal_fence_wait(...));
//     return OkStatus();
//   }
//
// Both convert from iree_status_t, whose ownership they take, and Status converts to it when it is moved from. Not
// thread safe, as statuses are not.
#ifndef IREE_BASE_STATUS_CC_H_
#define IREE_BASE_STATUS_CC_H_

#ifndef __cplusplus
#error "This header is for C++."
#endif  // __cplusplus

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "iree/base/api.h"

namespace iree {

enum class StatusCode : std::uint32_t {
  kOk = IREE_STATUS_OK,
  kCancelled = IREE_STATUS_CANCELLED,
  kUnknown = IREE_STATUS_UNKNOWN,
  kInvalidArgument = IREE_STATUS_INVALID_ARGUMENT,
  kDeadlineExceeded = IREE_STATUS_DEADLINE_EXCEEDED,
  kNotFound = IREE_STATUS_NOT_FOUND,
  kAlreadyExists = IREE_STATUS_ALREADY_EXISTS,
  kPermissionDenied = IREE_STATUS_PERMISSION_DENIED,
  kResourceExhausted = IREE_STATUS_RESOURCE_EXHAUSTED,
  kFailedPrecondition = IREE_STATUS_FAILED_PRECONDITION,
  kAborted = IREE_STATUS_ABORTED,
  kOutOfRange = IREE_STATUS_OUT_OF_RANGE,
  kUnimplemented = IREE_STATUS_UNIMPLEMENTED,
  kInternal = IREE_STATUS_INTERNAL,
  kUnavailable = IREE_STATUS_UNAVAILABLE,
  kDataLoss = IREE_STATUS_DATA_LOSS,
  kUnauthenticated = IREE_STATUS_UNAUTHENTICATED,
  kDeferred = IREE_STATUS_DEFERRED,
  kIncompatible = IREE_STATUS_INCOMPATIBLE,
};

inline const char* StatusCodeToString(StatusCode code) {
  return iree_status_code_string(static_cast<iree_status_code_t>(code));
}

class [[nodiscard]] Status final {
 public:
  Status() = default;
  Status(iree_status_t status) : value_(status) {}
  Status(StatusCode code) : value_(iree_status_from_code(static_cast<iree_status_code_t>(code))) {}
  Status(iree_status_code_t code) : value_(iree_status_from_code(code)) {}
  Status(StatusCode code, const char* message)
      : value_(
            iree_status_allocate(static_cast<iree_status_code_t>(code), nullptr, 0, iree_make_cstring_view(message))) {}
  Status(Status&& other) noexcept : value_(other.release()) {}
  Status& operator=(Status&& other) noexcept {
    if (this != &other) {
      iree_status_free(value_);
      value_ = other.release();
    }
    return *this;
  }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  ~Status() { iree_status_free(value_); }

  bool ok() const { return iree_status_is_ok(value_); }
  StatusCode code() const { return static_cast<StatusCode>(iree_status_code(value_)); }
  explicit operator bool() const { return ok(); }
  // Borrowed.
  iree_status_t value() const { return value_; }
  // The caller's.
  [[nodiscard]] iree_status_t release() { return std::exchange(value_, iree_ok_status()); }
  operator iree_status_t() && { return release(); }
  void IgnoreError() { iree_status_ignore(release()); }
  void Update(Status&& other) {
    if (ok()) *this = std::move(other);
  }

  static std::string ToString(iree_status_t status) {
    iree_host_size_t length = 0;
    iree_status_format(status, 0, nullptr, &length);
    std::string text(length, '\0');
    iree_status_format(status, text.size() + 1, text.data(), &length);
    return text;
  }
  std::string ToString() const { return ToString(value_); }

  friend bool operator==(const Status& lhs, const Status& rhs) { return lhs.code() == rhs.code(); }
  friend bool operator!=(const Status& lhs, const Status& rhs) { return lhs.code() != rhs.code(); }
  friend bool operator==(const Status& lhs, StatusCode rhs) { return lhs.code() == rhs; }
  friend bool operator!=(const Status& lhs, StatusCode rhs) { return lhs.code() != rhs; }
  friend std::ostream& operator<<(std::ostream& os, const Status& status) { return os << status.ToString(); }

 private:
  iree_status_t value_ = iree_ok_status();
};

inline Status OkStatus() { return Status(); }
inline bool IsOk(const Status& status) { return status.ok(); }

// A value, or why there is none.
template <typename T>
class [[nodiscard]] StatusOr {
 public:
  using value_type = T;

  StatusOr() : status_(StatusCode::kUnknown) {}
  StatusOr(Status status) : status_(std::move(status)) { RequireError(); }
  StatusOr(iree_status_t status) : status_(status) { RequireError(); }
  StatusOr(StatusCode code) : status_(code) { RequireError(); }
  template <typename U = T,
            typename = std::enable_if_t<
                std::is_constructible_v<T, U&&> && std::is_convertible_v<U&&, T> &&
                !std::is_same_v<std::decay_t<U>, StatusOr> && !std::is_same_v<std::decay_t<U>, Status> &&
                !std::is_same_v<std::decay_t<U>, StatusCode> && !std::is_same_v<std::decay_t<U>, iree_status_t>>>
  StatusOr(U&& value) : value_(std::forward<U>(value)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }

  // The process ends when there is none.
  const T& value() const& { return RequireValue(), *value_; }
  T& value() & { return RequireValue(), *value_; }
  T&& value() && { return RequireValue(), std::move(*value_); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  template <typename U>
  T value_or(U&& other) const& {
    return ok() ? *value_ : static_cast<T>(std::forward<U>(other));
  }

 private:
  void RequireError() {
    if (status_.ok()) status_ = Status(StatusCode::kInternal, "an OK status is no reason for a missing value");
  }
  void RequireValue() const {
    if (ok()) return;
    iree_status_fprint(stderr, status_.value());
    std::abort();
  }

  std::optional<T> value_;
  Status status_;
};

}  // namespace iree

#define IREE_STATUS_CC_CONCAT_(a, b) a##b
#define IREE_STATUS_CC_CONCAT(a, b) IREE_STATUS_CC_CONCAT_(a, b)
#define IREE_STATUS_CC_ASSIGN_(result, lhs, ...)                      \
  auto&& result = (__VA_ARGS__);                                      \
  if (IREE_UNLIKELY(!result.ok())) return std::move(result).status(); \
  lhs = std::move(result).value()

// Declares or sets `lhs` to the value of a StatusOr, or returns its status from a function that returns iree_status_t,
// Status or StatusOr.
#define IREE_ASSIGN_OR_RETURN(lhs, ...) \
  IREE_STATUS_CC_ASSIGN_(IREE_STATUS_CC_CONCAT(iree_status_or_, __LINE__), lhs, __VA_ARGS__)

#endif  // IREE_BASE_STATUS_CC_H_
