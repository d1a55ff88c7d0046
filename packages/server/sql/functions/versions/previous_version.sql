-- The version before another one: for the canary the current version, otherwise the newest older version that has been current. Null if there is
-- none.
--
-- Locks: none.
-- Callers: errors/list/versions.ts, versions/compare/compare.ts.
create or replace function previous_version(p_env int, p_version int) returns int language sql stable as $$
  select coalesce(
    (select c.version_id from current_versions c where c.env = p_env and c.canary_id = p_version),
    (select o.id from versions o
      where o.env = p_env and o.promoted_at is not null
        and o.sequence < (select v.sequence from versions v where v.id = p_version and v.env = p_env)
      order by o.sequence desc limit 1))
$$;
