-- A time in its wire format.
--
-- Locks: none.
-- Callers: error_properties, notify_failed_runs, notify_missed_ticks, notify_promotions, notify_uploaded_version, notify_versions.
create or replace function iso_time(p_at timestamptz) returns text language sql immutable
return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
