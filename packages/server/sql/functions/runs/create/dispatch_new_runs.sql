-- Puts inserted runs where they wait, according to their `state`: in a lane, until a time, or for a version. A `held` run waits nowhere
-- until its batch is sealed. A run with `wait_until` waits until then, regardless of its state; infinity means until another run ends
-- (release_singleton). If a run names a runner with a free slot, no limit applies to its queue and no run precedes it, it is leased to that
-- runner in the same commit. Otherwise it is queued. Returns the leases, or null for none.
-- The planner settings of the caller apply.
--
-- Locks: as lease_new_runs, then lanes by key (enqueue_runs).
-- Callers: create_runs.
create or replace function dispatch_new_runs(p_at timestamptz, p_runs new_run[]) returns new_lease[]
language plpgsql
as $$
declare
  v_waiting waiting_run[];
  v_leased new_lease[];
  v_has record;
begin
  v_waiting := array(
    select row (i.env, i.queue_id, i.concurrency_key, i.version_id, i.sort_key, i.id, i.expires_at)::waiting_run
      from unnest(p_runs) as i where i.state = 'queued' and i.wait_until is null and i.runner_id is null);
  if cardinality(v_waiting) < cardinality(p_runs) then
    select bool_or(i.runner_id is not null) as offer, bool_or(i.state = 'delayed' or i.wait_until is not null) as delayed,
           bool_or(i.state = 'pendingVersion') as pending_version
      into v_has from unnest(p_runs) as i;
    if v_has.offer then
      v_leased := lease_new_runs(p_at, p_runs);
      v_waiting := v_waiting || array(
        select row (i.env, i.queue_id, i.concurrency_key, i.version_id, i.sort_key, i.id, i.expires_at)::waiting_run
          from unnest(p_runs) as i
         where i.state = 'queued' and i.wait_until is null and i.runner_id is not null
           and (select true from unnest(v_leased) as l where l.run_id = i.id) is null);
    end if;
    if v_has.delayed then
      insert into delayed (env, run_id, due)
      select i.env, i.id, coalesce(i.wait_until, i.delayed_until) from unnest(p_runs) as i where i.state = 'delayed' or i.wait_until is not null;
    end if;
    if v_has.pending_version then
      insert into pending_version (env, task, run_id, expires_at, external_id)
      select i.env, i.task, i.id, i.expires_at, i.external_deployment_id
        from unnest(p_runs) as i where i.state = 'pendingVersion' and i.wait_until is null;
    end if;
  end if;
  perform enqueue_runs(v_waiting);
  return v_leased;
end $$;
