-- Whether a version that this environment does not have can still be registered: then nothing can be of it or later yet. A version that is not
-- written as versions are, or is older than the existing ones, will never be registered.
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
