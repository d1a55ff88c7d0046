-- Creates any number of runs in one call: resolves each trigger to a run, inserts the new runs, and puts them where they wait. For one run:
-- select * from create_runs(now(), array[new_run(env => 1, id => 'run_…', task => 'mail', …)]).
-- Callers can skip unneeded steps. `p_identify`: a trigger may resolve to an existing run, or has a parent or a limit. `p_count`: the
-- caller does not count the runs for statistics.
-- Returns the position, counted from 1, of each trigger that received a lease, resolved to another run or to none (`run_id` is then empty),
-- or whose parent was looked up.
--
-- Locks: versions (key share) that runs are pinned to; as identify_runs; the runs; then run_facets by key, runners (key share), lanes by key (enqueue_runs).
-- Callers: runs/create/insert.ts, events/webhooks/store.ts.
create or replace function create_runs(
  p_at timestamptz, p_runs new_run[], p_identify boolean default true, p_count boolean default true
) returns table (ix int, run_id text, cached boolean, fence bigint, root_id text, refused text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_new new_run[] := p_runs;
  v_leased new_lease[];
begin
  -- The version of a live attempt is not archived, so its children need no lock.
  if exists (select from unnest(p_runs) as i where i.version_id is not null and i.parent_fence is null) then
    perform hold_versions(array(
      select distinct i.version_id from unnest(p_runs) as i where i.version_id is not null and i.parent_fence is null));
  end if;
  if p_identify then
    p_runs := identify_runs(p_at, p_runs);
    v_new := array(select i from unnest(p_runs) as i where i.target_id is null);
  end if;

  if cardinality(v_new) > 0 then
    insert into runs (env, id, task, queue_id, concurrency_key, payload, payload_type, metadata, sort_key, priority_ms, ttl, max_attempts,
                      max_duration, request_key, delayed_until, version_id, batch_id, parent_id, root_id, depth, tags, path_facets,
                      machine, region, description, is_test, idempotency_key, idempotency_key_options, debounce_key, singleton_key,
                      collect_key, schedule_id, event, traceparent, replay_of, external_deployment_id, created_at)
    select i.env, i.id, i.task, i.queue_id, i.concurrency_key, i.payload, i.payload_type, i.metadata, i.sort_key, coalesce(i.priority_ms, 0),
           i.ttl, i.max_attempts, i.max_duration, i.request_key, i.delayed_until, i.version_id, i.batch_id, i.parent_id, i.root_id,
           coalesce(i.depth, 0), i.tags, i.path_facets, i.machine, i.region, i.description, coalesce(i.is_test, false), i.idempotency_key,
           i.idempotency_key_options, i.debounce_key, i.singleton_key, i.collect_key, i.schedule_id, i.event, i.traceparent, i.replay_of,
           i.external_deployment_id, p_at
      from unnest(v_new) as i;
    if p_count then
      insert into run_stat_arrivals (env, task, queue_id, what, at, n)
      select i.env, i.task, i.queue_id, 'triggered', p_at, count(*) from unnest(v_new) as i group by i.env, i.task, i.queue_id;
    end if;
    perform record_new_facets(v_new);
    v_leased := dispatch_new_runs(p_at, v_new);
  end if;

  if p_identify or v_leased is not null then
    return query
      select i.ordinality::int, coalesce(i.target_id, i.id), coalesce(i.is_cached, false), l.fence, i.root_id, i.refused
        from unnest(p_runs) with ordinality as i
        left join unnest(v_leased) as l on l.run_id = i.id
       where i.target_id is not null or l.fence is not null or i.root_id is not null;
  end if;
end $$;
