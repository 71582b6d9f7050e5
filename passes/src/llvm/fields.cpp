// Names of fields from debug information: what the source calls the bytes at an offset of a record or global.
// Unions are not looked into (a nameless one is as good as its first member), nor library types inside of others (whose
// members' names begin with an underscore).
// Plain functions over plain handles; `fields.rs` declares exactly these.

#include <cstring>
#include <string>

#include "llvm-c/Core.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

/// A type without its typedefs and qualifiers.
const DIType *plain(const DIType *type) {
  while (const auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
    switch (derived->getTag()) {
    case dwarf::DW_TAG_typedef:
    case dwarf::DW_TAG_const_type:
    case dwarf::DW_TAG_volatile_type:
    case dwarf::DW_TAG_restrict_type:
    case dwarf::DW_TAG_atomic_type:
      type = derived->getBaseType();
      break;
    default:
      return type;
    }
  }
  return type;
}

std::string ending(uint64_t bits) { return bits < 8 ? "" : "+" + std::to_string(bits / 8); }

std::string path(const DIType *type, uint64_t bits, bool inMember);

std::string pathInArray(const DICompositeType *array, uint64_t bits, bool inMember) {
  const DIType *element = plain(array->getBaseType());
  uint64_t size = element ? element->getSizeInBits() : 0;
  if (size == 0)
    return ending(bits);
  std::string index = bits < size ? "" : std::to_string(bits / size);
  return "[" + index + "]" + path(element, bits % size, inMember);
}

std::string pathInRecord(const DICompositeType *record, uint64_t bits, bool inMember) {
  const DIDerivedType *found = nullptr;
  bool several = false;
  for (const DINode *node : record->getElements()) {
    const auto *member = dyn_cast_or_null<DIDerivedType>(node);
    if (!member || member->isStaticMember() || (member->getTag() != dwarf::DW_TAG_member && member->getTag() != dwarf::DW_TAG_inheritance))
      continue;
    uint64_t begin = member->getOffsetInBits();
    const auto *array = dyn_cast_or_null<DICompositeType>(plain(member->getBaseType()));
    bool open = array && array->getTag() == dwarf::DW_TAG_array_type && member->getSizeInBits() == 0;
    // An access to bit fields begins at their first byte.
    bool touches = begin < bits + 8 && (open || bits < begin + member->getSizeInBits());
    if (touches && found && member->isBitField())
      several = true;
    else if (touches && !found)
      found = member;
  }
  if (!found)
    return ending(bits);
  uint64_t rest = bits > found->getOffsetInBits() ? bits - found->getOffsetInBits() : 0;
  StringRef name = found->getName();
  const auto *nameless = dyn_cast_or_null<DICompositeType>(plain(found->getBaseType()));
  if (nameless && (found->getTag() == dwarf::DW_TAG_inheritance || name.empty()))
    return pathInRecord(nameless, rest, inMember);
  if (inMember && name.starts_with("_"))
    return ending(bits);
  return "." + name.str() + (several ? ".." : "") + path(found->getBaseType(), rest, true);
}

std::string path(const DIType *type, uint64_t bits, bool inMember) {
  const auto *composite = dyn_cast_or_null<DICompositeType>(plain(type));
  switch (composite ? unsigned(composite->getTag()) : 0) {
  case dwarf::DW_TAG_array_type:
    return pathInArray(composite, bits, inMember);
  case dwarf::DW_TAG_structure_type:
  case dwarf::DW_TAG_class_type:
    return pathInRecord(composite, bits, inMember);
  default:
    return ending(bits);
  }
}

/// A type's name as LLVM's types have it: with its scopes, without template arguments.
std::string scoped(const DIScope *scope, StringRef name) {
  std::string qualified = name.substr(0, name.find('<')).str();
  for (; scope; scope = scope->getScope()) {
    bool isNamespace = isa<DINamespace>(scope);
    StringRef outer = isNamespace && scope->getName().empty() ? "(anonymous namespace)" : scope->getName();
    if (isNamespace || isa<DICompositeType>(scope))
      qualified = outer.substr(0, outer.find('<')).str() + "::" + qualified;
  }
  return qualified;
}

char *copy(const std::string &text) { return text.empty() ? nullptr : strdup(text.c_str()); }

} // namespace

extern "C" {

/// The records that a module's debug information describes, by the name of their LLVM type: the instances of a template have one name.
struct AtomfixRecords {
  StringMap<SmallVector<const DICompositeType *, 1>> named;

  void add(const std::string &name, const DICompositeType *record) {
    if (!record->isForwardDecl())
      named[name].push_back(record);
  }
};

AtomfixRecords *atomfix_records(LLVMModuleRef module) {
  auto *records = new AtomfixRecords();
  DebugInfoFinder finder;
  finder.processModule(*unwrap(module));
  for (const DIType *type : finder.types()) {
    const auto *record = dyn_cast<DICompositeType>(type);
    const auto *renamed = dyn_cast<DIDerivedType>(type);
    if (record && !record->getName().empty()) {
      records->add(scoped(record->getScope(), record->getName()), record);
    } else if (renamed && renamed->getTag() == dwarf::DW_TAG_typedef) {
      // `typedef struct { .. } name`: the compiler names the record so.
      record = dyn_cast_or_null<DICompositeType>(renamed->getBaseType());
      if (record && record->getName().empty())
        records->add(scoped(renamed->getScope(), renamed->getName()), record);
    }
  }
  return records;
}

void atomfix_records_free(AtomfixRecords *records) { delete records; }

/// What follows a record's name for the bytes at an offset (`.lock`, `.slots[].next`), to be freed; null when nothing is known, or
/// records of that name disagree.
char *atomfix_field_path(const AtomfixRecords *records, const char *name, size_t size, uint64_t offset) {
  std::string agreed;
  auto found = records->named.find(StringRef(name, size));
  if (found == records->named.end())
    return nullptr;
  for (const DICompositeType *record : found->second) {
    std::string one = path(record, offset * 8, /*inMember=*/false);
    if (!agreed.empty() && one != agreed)
      return nullptr;
    agreed = std::move(one);
  }
  return copy(agreed);
}

/// The same for a global variable.
char *atomfix_global_path(LLVMValueRef global, uint64_t offset) {
  SmallVector<DIGlobalVariableExpression *, 1> described;
  if (const auto *variable = dyn_cast<GlobalVariable>(unwrap(global)))
    variable->getDebugInfo(described);
  return described.size() == 1 ? copy(path(described[0]->getVariable()->getType(), offset * 8, /*inMember=*/false)) : nullptr;
}

} // extern "C"
