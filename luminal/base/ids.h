// SPDX-License-Identifier: MIT OR Apache-2.0
// Typed ids and the stores they index. An id is a number that cannot be mixed up with another kind's.
//
//   using ValueId = Id<struct ValueTag>;
//   Store<ValueId, Value> values;
//   ValueId id = values.push(Value{..});
//   values[id].dtype;
#pragma once

#include "luminal/base/check.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <utility>
#include <vector>

namespace luminal {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = 0xffffffffu;
  std::uint32_t index = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t value) : index(static_cast<std::uint32_t>(value)) {}

  constexpr bool valid() const { return index != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
  friend std::ostream& operator<<(std::ostream& out, Id id) {
    return id.valid() ? out << id.index : out << "none";
  }
};

template <class IdType, class Element>
class Store {
 public:
  IdType push(Element element) {
    elements_.push_back(std::move(element));
    return IdType(elements_.size() - 1);
  }
  Element& operator[](IdType id) {
    LUM_DCHECK(id.index < elements_.size());
    return elements_[id.index];
  }
  const Element& operator[](IdType id) const {
    LUM_DCHECK(id.index < elements_.size());
    return elements_[id.index];
  }
  std::size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  bool contains(IdType id) const { return id.index < elements_.size(); }
  void resize(std::size_t count) { elements_.resize(count); }
  auto begin() { return elements_.begin(); }
  auto end() { return elements_.end(); }
  auto begin() const { return elements_.begin(); }
  auto end() const { return elements_.end(); }

 private:
  std::vector<Element> elements_;
};

}  // namespace luminal

template <class Tag>
struct std::hash<luminal::Id<Tag>> {
  std::size_t operator()(luminal::Id<Tag> id) const noexcept {
    return static_cast<std::size_t>(id.index) * 0x9e3779b97f4a7c15ull;
  }
};
