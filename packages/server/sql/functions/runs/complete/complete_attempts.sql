-- Records how attempts ended. `p_kind` is a final status or one of `retry` (again at `p_due`), `released` (returned unstarted), `returned`
-- (returned after its code may have started) and `pending_version` (its version does not have the task). An attempt whose fence is not live
-- is rejected, because another attempt owns the run.
-- The output of a retry is the machine for all later attempts, if the retry requests a different one.
-- If cancellation of a run was requested, the run and the runs it triggered end as CANCELED regardless of the reported outcome. Live
-- attempts of those runs receive a stop signal and are returned (`stopping_runner`, `stopping_fence`), identical in each row.
-- Failures carry the fingerprint of their error; the occurrence commits with the run. An attempt that does not end its run is stored in
-- `attempts`; its final attempt is stored in the run.
-- Returns a row for each attempt that was live. `limited`: a slot that a run may be waiting for became free. `woke`: suspended runs are ready.
--
-- Locks: claim locks (lock_limited), leases by run, suspended by run (return_leases), runs, then their waiters (end_waits), run_facets, lanes.
-- Callers: runs/complete/write.ts.
create or replace function complete_attempts(
  p_at timestamptz, p_env int[], p_run text[], p_fence bigint[], p_kind text[], p_output text[], p_output_type text[],
  p_error jsonb[], p_due timestamptz[], p_fingerprint int[],
  p_revision int[]
) returns table (ix int, kind text, limited boolean, woke boolean, stopping_runner text[], stopping_fence text[])
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_tid tid[];
  v_ix int[];
  v_kind text[];
  v_env int[];
  v_queue int[];
  v_key text[];
  v_version int[];
  v_leased timestamptz[];
  v_attempt int[];
  v_runner int[];
  v_limited boolean;
  v_stopping_runner text[];
  v_stopping_fence text[];
  v_ended record;
  c_failed constant text[] := '{FAILED,CRASHED,SYSTEM_FAILURE,TIMED_OUT}';
begin
  -- Each lease is fetched by key, one at a time. If the statistics date from when the table was empty, a join would read every lease of the
  -- environment for each of them. Locked in run order.
  select lock_limited(array_agg(l.env), array_agg(l.queue_id)) into v_limited
    from unnest(p_env, p_run) as i (env, run_id)
    cross join lateral (select x.env, x.queue_id from leases x where x.env = i.env and x.run_id = i.run_id limit 1) l;

  for v_step in 1 .. 2 loop
    select array_agg(l.tid), array_agg(i.ix) into v_tid, v_ix
      from (select * from unnest(p_env, p_run, p_fence) with ordinality as i (env, run_id, fence, ix) order by run_id) i
      cross join lateral (
        select x.ctid as tid from leases x where x.env = i.env and x.run_id = i.run_id and x.fence = i.fence limit 1 for update
      ) l;
    -- A missing lease may be suspended: the attempt's code ended while it was waiting.
    exit when cardinality(v_tid) = cardinality(p_run) or not return_leases(p_at, p_env, p_run, p_fence);
  end loop;
  -- A separate statement: only a new snapshot sees a cancellation that committed while this one waited for the lock.
  with gone as (
    delete from leases l using unnest(v_tid, v_ix) as live (tid, ix) where l.ctid = live.tid
    returning l.env, l.queue_id, l.key, l.version_id, l.leased_at, l.attempt, l.cancel_requested, l.runner_no, live.ix
  )
  select array_agg(g.ix), array_agg(case when g.cancel_requested then 'CANCELED' else p_kind[g.ix] end), array_agg(g.env),
         array_agg(g.queue_id), array_agg(g.key), array_agg(g.version_id), array_agg(g.leased_at), array_agg(g.attempt),
         array_agg(g.runner_no)
    into v_ix, v_kind, v_env, v_queue, v_key, v_version, v_leased, v_attempt, v_runner
    from gone g;
  if v_ix is null then return; end if;

  with written as (
  update runs r set
    status = case when g.kind in ('retry', 'released', 'returned', 'pending_version') then null else g.kind end,
    finished_at = case when g.kind in ('retry', 'released', 'returned', 'pending_version') then null else p_at end,
    output = case when g.kind = 'COMPLETED' then p_output[g.ix] end,
    output_type = case when g.kind = 'COMPLETED' then p_output_type[g.ix] end,
    error = case when g.kind in ('COMPLETED', 'CANCELED', 'released', 'returned', 'pending_version') then r.error else p_error[g.ix] end,
    attempt = case when g.kind in ('released', 'returned', 'pending_version') then r.attempt else g.attempt end,
    version_id = case when g.kind in ('released', 'pending_version') then r.version_id else g.version_id end,
    env_revision = case when g.kind in ('released', 'returned', 'pending_version') then r.env_revision else p_revision[g.ix] end,
    started_at = case when g.kind in ('released', 'pending_version') then r.started_at else coalesce(r.started_at, g.leased_at) end,
    duration_ms = case when g.kind in ('released', 'returned', 'pending_version') then r.duration_ms
                       else r.duration_ms + greatest(0, extract(epoch from p_at - g.leased_at) * 1000)::bigint end,
    sort_key = case when g.kind = 'retry' then (extract(epoch from p_due[g.ix]) * 1000)::bigint - r.priority_ms else r.sort_key end,
    error_fingerprint_id = case when g.kind = any (c_failed) then p_fingerprint[g.ix] end,
    last_runner_no = coalesce(g.runner_no, 0),
    updated_at = p_at
    from unnest(v_ix, v_kind, v_env, v_version, v_leased, v_attempt, v_runner)
           as g (ix, kind, env, version_id, leased_at, attempt, runner_no)
   where r.env = g.env and r.id = p_run[g.ix]
  returning r.env, r.id, r.error_fingerprint_id, r.version_id, r.started_at
  )
  insert into error_arrivals (env, fingerprint_id, version, at, started, n, spans)
  select w.env, w.error_fingerprint_id, coalesce(w.version_id, 0), date_trunc('milliseconds', p_at), max(w.started_at), count(*),
         array_agg(distinct left(w.id, 10))
    from written w where w.error_fingerprint_id is not null group by w.env, w.error_fingerprint_id, w.version_id;

  insert into run_facets (env, facet, span)
  select distinct g.env, f.facet, left(p_run[g.ix], 10)
    from unnest(v_ix, v_kind, v_env, v_version) as g (ix, kind, env, version_id)
    cross join lateral unnest(case when g.kind in ('retry', 'returned') then array[facet_of('version', g.version_id::text)]
                                   else array[facet_of('status', g.kind), facet_of('version', g.version_id::text)] end) as f (facet)
   where g.kind not in ('released', 'pending_version') order by 1, 2, 3
  on conflict do nothing;
  if v_kind && '{CANCELED,FAILED,CRASHED,SYSTEM_FAILURE,TIMED_OUT}' then
    perform record_facets(array_agg(r.env), array_agg(f.facet), array_agg(r.id))
       from unnest(v_ix, v_kind, v_env) as g (ix, kind, env) join runs r on r.env = g.env and r.id = p_run[g.ix]
       cross join lateral (select facet_of('task_status', g.kind || ':' || r.task)) as f (facet)
      where g.kind in ('CANCELED', 'FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT');
  end if;

  if v_kind && '{retry,released,returned,pending_version}' then
    insert into attempts (env, run_id, fence, number, outcome, started_at, ended_at, active_ms, runner_no, version_id, env_revision,
                          error, error_fingerprint_id, due)
    select g.env, p_run[g.ix], p_fence[g.ix], g.attempt, case g.kind when 'retry' then 'FAILED' else 'RETURNED' end, s.at,
           greatest(p_at, s.at), greatest(0, extract(epoch from p_at - g.leased_at) * 1000)::bigint, g.runner_no, g.version_id,
           p_revision[g.ix], case when g.kind = 'retry' then short_error(p_error[g.ix]) end, p_fingerprint[g.ix],
           case when g.kind = 'retry' then p_due[g.ix] end
      from unnest(v_ix, v_kind, v_env, v_version, v_leased, v_attempt, v_runner)
             as g (ix, kind, env, version_id, leased_at, attempt, runner_no)
      cross join lateral (
        select coalesce(r.last_started_at, g.leased_at) as at from runs r where r.env = g.env and r.id = p_run[g.ix] limit 1) s
     where g.kind in ('retry', 'returned');
    -- the run has no attempt now, and no attempt ended it
    update runs r set last_started_at = null, last_runner_no = null
      from unnest(v_ix, v_kind, v_env) as g (ix, kind, env)
     where r.env = g.env and r.id = p_run[g.ix] and g.kind in ('retry', 'released', 'returned', 'pending_version');
  end if;
  if 'retry' = any (v_kind) then
    insert into delayed (env, run_id, due, retry)
    select g.env, p_run[g.ix], p_due[g.ix], true from unnest(v_ix, v_kind, v_env) as g (ix, kind, env) where g.kind = 'retry';
    if exists (select from unnest(v_ix, v_kind) as g (ix, kind) where g.kind = 'retry' and p_output[g.ix] is not null) then
      update runs r set machine = p_output[g.ix] from unnest(v_ix, v_kind, v_env) as g (ix, kind, env)
       where r.env = g.env and r.id = p_run[g.ix] and g.kind = 'retry' and p_output[g.ix] is not null;
      perform record_facets(array_agg(g.env), array_agg(facet_of('machine', p_output[g.ix])), array_agg(p_run[g.ix]))
         from unnest(v_ix, v_kind, v_env) as g (ix, kind, env) where g.kind = 'retry' and p_output[g.ix] is not null;
    end if;
  end if;
  if v_kind && '{released,returned}' then
    perform requeue_runs(array_agg(g.env), array_agg(p_run[g.ix]))
       from unnest(v_ix, v_kind, v_env) as g (ix, kind, env) where g.kind in ('released', 'returned');
  end if;
  if 'pending_version' = any (v_kind) then
    insert into pending_version (env, task, run_id)
    select r.env, r.task, r.id from unnest(v_ix, v_kind, v_env) as g (ix, kind, env)
      join runs r on r.env = g.env and r.id = p_run[g.ix] where g.kind = 'pending_version';
  end if;

  if v_limited then
    perform free_slots(v_env, v_queue, v_key);
  end if;

  if v_kind && c_failed and exists (select from notification_endpoints) then
    perform notify_failed_runs(array_agg(g.env), array_agg(p_run[g.ix]))
       from unnest(v_ix, v_kind, v_env) as g (ix, kind, env) where g.kind = any (c_failed);
  end if;

  if 'CANCELED' = any (v_kind) then
    -- Runs that already received a stop signal end on their own, perhaps at this moment. Later triggers are rejected: the lease is gone, and
    -- the run has ended.
    for v_ended in
      select g.env, p_run[g.ix] as run from unnest(v_ix, v_kind, v_env) as g (ix, kind, env)
       where g.kind = 'CANCELED' and exists (select from runs c where c.env = g.env and c.parent_id = p_run[g.ix]) order by 2
    loop
      select v_stopping_runner || array_agg(c.runner_id), v_stopping_fence || array_agg(c.fence::text) into v_stopping_runner, v_stopping_fence
        from cancel_runs(v_ended.env, v_ended.run, p_at, true) c;
    end loop;
  end if;

  return query
    select g.ix, g.kind, v_limited,
           exists (select from suspended s where s.env = any (v_env) and s.ready_at is not null), v_stopping_runner, v_stopping_fence
      from unnest(v_ix, v_kind) as g (ix, kind);
end $$;
