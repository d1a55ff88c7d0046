-- How many times a fingerprint had occurred by a given time.
--
-- Locks: none.
-- Callers: error_reopening.
create or replace function errors_until(p_env int, p_fingerprint int, p_at timestamptz) returns bigint language sql stable as $$
  select coalesce((select t.total from error_tallies t
                    where t.env = p_env and t.fingerprint_id = p_fingerprint and t.at <= p_at
                    order by t.at desc, t.version desc limit 1), 0)
$$;
