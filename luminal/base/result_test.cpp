// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/base/result.h"

#include "luminal/base/ids.h"

#include <gtest/gtest.h>

#include <memory>

namespace luminal {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return error("number ", number, ": not even, give an even one");
  return number / 2;
}

Result<int> quarter(int number) {
  LUM_ASSIGN_OR_RETURN(int first, half(number));
  LUM_ASSIGN_OR_RETURN(int second, half(first));
  return second;
}

Status even(int number) {
  LUM_RETURN_IF_ERROR(half(number));
  return {};
}

TEST(Result, ValueAndError) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().message, "number 3: not even, give an even one");
  EXPECT_TRUE(even(2).ok());
  EXPECT_EQ(even(3).error().within("check").message,
            "check: number 3: not even, give an even one");
}

TEST(Result, MoveOnly) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 3);
}

TEST(ResultDeathTest, ValueOfAnErrorAborts) {
  EXPECT_DEATH(half(3).value(), "not even");
}

TEST(Ids, StoreAndOrder) {
  using FooId = Id<struct FooTag>;
  Store<FooId, int> store;
  const FooId first = store.push(10);
  const FooId second = store.push(20);
  EXPECT_LT(first, second);
  EXPECT_EQ(store[second], 20);
  EXPECT_FALSE(FooId().valid());
  EXPECT_EQ(cat(first, " ", FooId()), "0 none");
}

}  // namespace
}  // namespace luminal
