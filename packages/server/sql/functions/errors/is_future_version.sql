-- Whether a version unknown to this environment can still be registered. If so, no run can belong to it or to a later version yet. A
-- version with an invalid format, or older than the existing ones, will never be registered.
--
-- Locks: none.
-- Callers: error_reopening.
create or replace function is_future_version(p_env int, p_version text) returns boolean language sql stable as $$
  select case when p_version ~ '^[0-9]{8}\.[0-9]{1,9}$'
              then coalesce(string_to_array(p_version, '.')::int[] > (
                     select string_to_array(v.version, '.')::int[] from versions v
                      where v.env = p_env and v.version ~ '^[0-9]{8}\.[0-9]{1,9}$' order by v.sequence desc limit 1), true)
              else false end
$$;
