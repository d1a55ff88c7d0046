-- A canary: a share of the runs that are not bound to a version start on it, and the others on the current one.

alter table current_versions
  add column canary_id int references versions,
  -- of the runs, chosen by `canary_share` of their ids
  add column canary_percent int check (canary_percent between 1 and 99),
  add constraint current_versions_canary check ((canary_id is null) = (canary_percent is null) and canary_id <> version_id);
