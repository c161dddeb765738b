#include "sql/bloom_table/paged/filter_registry.h"

#include <algorithm>

namespace bloom {

FilterRegistry::FilterRef FilterRegistry::open(const Definition& definition) {
  for (Entry& entry : entries_) {
    if (entry.filter->must_be_shared(definition.schema, definition.table,
                                     definition.growth.has_value())) {
      return acquire(entry);
    }
  }
  FilterRef opened = add(definition);
  retire_others(*opened, definition.table);
  return opened;
}

FilterRegistry::FilterRef FilterRegistry::create(const Definition& definition) {
  FilterRef created = add(definition);
  retire_others(*created, definition.table);
  return created;
}

void FilterRegistry::retire_others(const PagedFilter& filter, const std::string& table) {
  for (const Entry& entry : entries_) {
    if (entry.filter.get() != &filter && entry.filter->is_of(filter.schema(), table)) {
      entry.filter->retire();
    }
  }
}

FilterRegistry::FilterRef FilterRegistry::add(const Definition& definition) {
  entries_.push_back(
      {std::make_unique<PagedFilter>(definition.db, definition.schema, definition.table,
                                     definition.cache_bytes, definition.growth, connection_)});
  return acquire(entries_.back());
}

FilterRegistry::FilterRef FilterRegistry::acquire(Entry& entry) {
  ++entry.references;
  return {entry.filter.get(), {this}};
}

void FilterRegistry::release(PagedFilter* filter) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& each) { return each.filter.get() == filter; });
  if (--entry->references == 0) {
    entries_.erase(entry);
  }
}

}  // namespace bloom
