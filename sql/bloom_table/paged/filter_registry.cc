#include "sql/bloom_table/paged/filter_registry.h"

#include <algorithm>

namespace bloom {

FilterRegistry::FilterRef FilterRegistry::open(const Arguments& arguments) {
  for (Entry& entry : entries_) {
    if (entry.filter->must_be_shared(arguments.schema, arguments.table,
                                     arguments.growth.has_value())) {
      return acquire(entry);
    }
  }
  FilterRef opened = add(arguments);
  retire_others(*opened);
  return opened;
}

FilterRegistry::FilterRef FilterRegistry::create(const Arguments& arguments) {
  FilterRef created = add(arguments);
  retire_others(*created);
  return created;
}

void FilterRegistry::retire_others(PagedFilter& filter) {
  for (const Entry& entry : entries_) {
    entry.filter->retire_if_replaced_by(filter);
  }
}

FilterRegistry::FilterRef FilterRegistry::add(const Arguments& arguments) {
  entries_.push_back(
      {std::make_unique<PagedFilter>(arguments.db, arguments.schema, arguments.table,
                                     arguments.cache_bytes, arguments.growth, shared_)});
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
