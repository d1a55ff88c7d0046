-- Puts inserted runs where they wait, according to `p_state`: `queued` in its lane, `delayed`, or `pendingVersion`. A run that is `held` waits
-- nowhere until its batch is sealed. `p_runner` is a runner of the calling process with a free slot. The run is leased to it in the same
-- commit if nothing limits its queue and no run is before it, and queued otherwise.
-- `p_dues`: the run is delayed until this time, whatever it was given: infinity until the end of another one (release_singleton).
-- The tags of a run come as the text of an array.
-- `p_inserted` of the runs were inserted: those whose entry in `p_run_id` is their own id (`p_id`). Nothing is done for the others.
-- Returns the leases.
--
-- Locks: run_facets by key, runners (key share), lanes by key (enqueue_runs).
-- Callers: runs/create/insert.ts.
create or replace function dispatch_new_runs(
  p_at timestamptz, p_inserted bigint, p_run_id text[], p_env int[], p_id text[], p_task text[], p_state text[], p_queue int[], p_key text[],
  p_version int[], p_sort_key bigint[], p_expires timestamptz[], p_due timestamptz[],
  p_tags text[], p_machine text[], p_region text[], p_test boolean[], p_schedule text[],
  p_runner text[], p_runner_version int[], p_dues timestamptz[] default null
) returns table (run_id text, fence bigint)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_leased text[] := '{}';
  v_fences bigint[];
  v_queued int[];
begin
  if p_inserted = 0 then
    return;
  end if;
  if p_dues is not null then
    p_state := array(select case when p_dues[g.i] is null then p_state[g.i] else 'delayed' end from generate_subscripts(p_dues, 1) as g (i) order by g.i);
    p_due := array(select coalesce(p_dues[g.i], p_due[g.i]) from generate_subscripts(p_dues, 1) as g (i) order by g.i);
  end if;
  if p_inserted < cardinality(p_id) then
    select array_agg(i.env), array_agg(i.id), array_agg(i.task), array_agg(i.state), array_agg(i.queue_id), array_agg(i.key),
           array_agg(i.version), array_agg(i.sort_key), array_agg(i.expires_at), array_agg(i.due), array_agg(i.tags), array_agg(i.machine),
           array_agg(i.region), array_agg(i.test), array_agg(i.schedule), array_agg(i.runner), array_agg(i.runner_version)
      into p_env, p_id, p_task, p_state, p_queue, p_key, p_version, p_sort_key, p_expires, p_due, p_tags, p_machine, p_region, p_test, p_schedule,
           p_runner, p_runner_version
      from unnest(p_run_id, p_env, p_id, p_task, p_state, p_queue, p_key, p_version, p_sort_key, p_expires, p_due, p_tags, p_machine, p_region,
                  p_test, p_schedule, p_runner, p_runner_version)
             as i (run_id, env, id, task, state, queue_id, key, version, sort_key, expires_at, due, tags, machine, region, test, schedule, runner,
                   runner_version)
     where i.run_id = i.id;
  end if;

  with kinds as materialized (
    select distinct i.env, i.task, i.queue_id, left(i.id, 10) as span from unnest(p_env, p_task, p_queue, p_id) as i (env, task, queue_id, id)
  )
  insert into run_facets (env, facet, span)
  select k.env, f.facet, k.span
    from kinds k
    join queues q on q.id = k.queue_id
    cross join lateral unnest(case when q.name = 'task/' || k.task then array['o:' || k.task]
                                   else array['t:' || k.task, 'q:' || k.queue_id] end) as f (facet)
   order by 1, 2, 3
  on conflict do nothing;
  if num_nonnulls(p_tags, p_machine, p_region, p_test, p_schedule, p_version) > 0 then
    perform record_facets(array_agg(i.env), array_agg(f.facet), array_agg(i.id))
       from unnest(p_env, p_id, p_tags, p_machine, p_region, p_test, p_schedule, p_version)
              as i (env, id, tags, machine, region, test, schedule, version)
       cross join lateral (
         select 'g:' || t.tag from unnest(i.tags::text[]) as t (tag)
         union all select 'm:' || i.machine
         union all select 'r:' || i.region
         union all select 'd' where i.test
         union all select 'c:' || i.schedule
         union all select 'v:' || i.version
       ) as f (facet)
      where f.facet is not null having count(*) > 0;
  end if;

  if p_runner is not null then
    with leased as (
      insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at, runner_no)
      select i.env, i.id, i.runner, i.queue_id, coalesce(i.key, ''), i.runner_version, 1, p_at, r.no
        from unnest(p_env, p_id, p_state, p_queue, p_key, p_version, p_runner, p_runner_version)
               as i (env, id, state, queue_id, key, version, runner, runner_version)
        join runners r on r.id = i.runner
       where i.runner is not null and i.state = 'queued'
         and exists (select from queues q
                      where q.id = i.queue_id and not q.paused and q.concurrency_limit is null and q.concurrency_override is null
                        and q.rate_burst is null and q.shared_limit_id is null)
         and exists (select from environments e where e.id = i.env and not e.paused and e.concurrency_limit is null)
         and (select true from lanes l
               cross join lateral (select from queued w where w.lane_id = l.id limit 1) w
               where l.queue_id = i.queue_id and l.key = coalesce(i.key, '') and l.pinned_version = coalesce(i.version, 0) limit 1) is null
         -- held, so that a rescue sees the lease
         for key share of r
      returning run_id, fence
    )
    select coalesce(array_agg(l.run_id), '{}'), array_agg(l.fence) into v_leased, v_fences from leased l;
  end if;

  select array_agg(g.i) into v_queued
    from generate_subscripts(p_id, 1) as g (i) where p_state[g.i] = 'queued' and p_id[g.i] <> all (v_leased);
  if cardinality(v_queued) = cardinality(p_id) then
    perform enqueue_runs(p_env, p_queue, p_key, p_version, p_sort_key, p_id, p_expires);
  elsif v_queued is not null then
    perform enqueue_runs(array_agg(p_env[g.i]), array_agg(p_queue[g.i]), array_agg(p_key[g.i]), array_agg(p_version[g.i]),
                         array_agg(p_sort_key[g.i]), array_agg(p_id[g.i]), array_agg(p_expires[g.i]))
       from unnest(v_queued) as g (i);
  end if;
  if 'delayed' = any (p_state) then
    insert into delayed (env, run_id, due)
    select i.env, i.id, i.due from unnest(p_env, p_id, p_due, p_state) as i (env, id, due, state) where i.state = 'delayed';
  end if;
  if 'pendingVersion' = any (p_state) then
    insert into pending_version (env, task, run_id, expires_at, external_id)
    select i.env, i.task, i.id, i.expires_at, r.external_deployment_id
      from unnest(p_env, p_task, p_id, p_expires, p_state) as i (env, task, id, expires_at, state)
      cross join lateral (select x.external_deployment_id from runs x where x.env = i.env and x.id = i.id limit 1) r
     where i.state = 'pendingVersion';
  end if;

  return query select * from unnest(v_leased, v_fences);
end $$;
