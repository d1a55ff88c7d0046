-- The state of a group in the form that the audit log stores.
--
-- Locks: none.
-- Callers: errors/life/change.ts, errors/merge/merge.ts, errors/merge/split.ts, errors/ownership/change.ts,
--          reopen_error.
create or replace function error_state(g error_groups) returns jsonb language sql immutable
return jsonb_strip_nulls(jsonb_build_object(
  'status', g.status, 'resolvedAt', g.resolved_at, 'resolvedInVersion', g.resolved_in_version, 'resolvedBy', g.resolved_by,
  'ignoredAt', g.ignored_at, 'ignoredUntil', g.ignored_until, 'ignoredReason', g.ignored_reason,
  'ignoredByUserId', g.ignored_by, 'ignoredUntilOccurrenceRate', g.ignored_until_rate,
  'ignoredUntilTotalOccurrences', g.ignored_until_total));
