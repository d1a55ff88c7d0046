-- A run and its ancestors.
-- The planner settings of the caller apply.
--
-- Locks: none.
-- Callers: admit_singletons, cancel_singleton.
create or replace function run_ancestors(p_env int, p_run text) returns table (id text)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
    with recursive up as (
      select r.id, r.parent_id from runs r where r.env = p_env and r.id = p_run
      union
      select r.id, r.parent_id from up u cross join lateral (select x.id, x.parent_id from runs x where x.env = p_env and x.id = u.parent_id limit 1) r
    )
    select u.id from up u;
end $$;
