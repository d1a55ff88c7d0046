-- Marks a group as unresolved without a user's action: a regression, or the end of an ignore.
--
-- Locks: the group, which the caller has locked.
-- Callers: errors/life/change.ts, errors/life/lapse.ts, tally_errors.
create or replace function reopen_error(p_env int, p_group text, p_at timestamptz, p_act text) returns void language sql
as $$
  insert into error_audit (env, group_id, at, act, before)
  select g.env, g.id, p_at, p_act, error_state(g) from error_groups g where g.env = p_env and g.id = p_group;
  insert into run_stat_arrivals (env, task, what, at, n)
  select g.env, g.task, 'regressed_errors', p_at, 1 from error_groups g where g.env = p_env and g.id = p_group and p_act = 'regressed';
  update error_groups set status = 'unresolved', resolved_at = null, resolved_in_version = null, resolved_by = null,
         ignored_at = null, ignored_until = null, ignored_reason = null, ignored_by = null,
         ignored_until_rate = null, ignored_until_total = null, ignored_from_total = null
   where env = p_env and id = p_group;
$$;
