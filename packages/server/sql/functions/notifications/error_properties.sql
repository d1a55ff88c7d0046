-- The properties of an error group that its notifications contain.
--
-- Locks: none.
-- Callers: notify_new_errors, notify_reopened_errors.
create or replace function error_properties(g error_groups) returns jsonb language sql immutable as $$
  select jsonb_build_object('id', g.id, 'fingerprint', g.fingerprint, 'taskIdentifier', g.task, 'errorType', g.type,
                            'errorMessage', g.message, 'count', g.total, 'firstSeen', iso_time(g.first_seen),
                            'lastSeen', iso_time(g.last_seen))
$$;
