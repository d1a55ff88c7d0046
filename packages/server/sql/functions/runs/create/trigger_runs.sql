-- Creates runs. One call carries what many callers triggered at once.
-- `p_state` says where a run waits: `queued`, `delayed` or `parked`. A run that is `held` waits nowhere until its batch is sealed.
-- `p_runner` is a runner of the calling process with a free slot. The run is leased to it in the same commit if nothing limits its queue and no
-- run is before it, and queued otherwise.
-- A repeated request (`p_request`) returns the run that it created the first time. A debounced run (`p_debounce`) updates the run that
-- still waits under its key: that one is due later, with the new data if `p_trailing`.
-- A run with a parent but without a root has its parent locked, and gets its position in the tree from it. `refused` says why a run was not
-- created because of its parent.
-- Returns one row for each run: which run it became (an idempotency key may name an older one) and the fence of its lease, if any.
--
-- Locks: runs of repeated requests, runners (key share), parents (hold_parents), idempotency_keys by key, debounces by key with their delayed and
--        runs rows, run_facets by key, lanes by key (enqueue_runs).
-- Callers: runs/create/trigger.ts.
create or replace function trigger_runs(
  p_at timestamptz, p_env int[], p_id text[], p_task text[], p_state text[], p_queue int[], p_key text[], p_route int[],
  p_ord bigint[], p_payload text[], p_payload_type text[], p_expires timestamptz[], p_ttl int[], p_due timestamptz[],
  p_idempotency text[], p_idempotency_expires timestamptz[], p_idempotency_options jsonb[], p_tags jsonb[], p_metadata text[],
  p_max_attempts int[], p_max_duration int[], p_machine text[], p_priority int[], p_test boolean[], p_parent text[],
  p_root text[], p_depth smallint[], p_runner text[], p_runner_version int[], p_schedule text[] default null,
  p_event text[] default null, p_batch text[] default null, p_request uuid[] default null, p_debounce text[] default null,
  p_debounce_ms bigint[] default null, p_trailing boolean[] default null, p_replay_of text[] default null,
  p_region text[] default null, p_parent_fence bigint[] default null
) returns table (ix int, run_id text, cached boolean, fence bigint, root text, refused text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_new int[];
  v_ids text[] := p_id;
  v_leased int[] := '{}';
  v_fences bigint[] := '{}';
  v_queue int[];
  v_before text[];
  v_cached boolean[];
  v_other text;
  v_ix int;
  v_held text[];
  v_root text[] := p_root;
  v_depth smallint[] := p_depth;
  v_refused text[];
begin
  if p_request is not null then
    update runs r set request_key = null from unnest(p_env, p_request) as i (env, key)
     where r.env = i.env and r.request_key = i.key and r.created_at <= p_at - interval '24 hours';
    select array_agg(coalesce(r.id, i.id) order by i.ix) into v_ids
      from unnest(p_env, p_id, p_request) with ordinality as i (env, id, key, ix)
      left join runs r on r.env = i.env and r.request_key = i.key;
  end if;

  if p_parent is not null then
    -- What a request made before stays its answer, whatever has become of the parent.
    v_held := array(select case when p_root[g.i] is null and v_ids[g.i] = p_id[g.i] then p_parent[g.i] end
                      from generate_subscripts(p_id, 1) as g (i) order by g.i);
    -- the runner before any lease, as everybody
    if p_runner is not null then
      perform from runners r where r.id = any (p_runner) order by r.id for key share;
    end if;
    -- An id that is no run's: nothing below is done for it.
    select array_agg(case when h.refused is null then i.id else '' end order by i.ix), array_agg(coalesce(h.root, i.root) order by i.ix),
           array_agg(coalesce(h.depth + 1, i.depth)::smallint order by i.ix), array_agg(h.refused order by i.ix)
      into v_ids, v_root, v_depth, v_refused
      from unnest(p_env, v_ids, v_held, p_root, p_depth, p_parent_fence) with ordinality as i (env, id, held, root, depth, fence, ix)
      left join hold_parents(p_env, v_held, p_parent_fence) h
        on h.env = i.env and h.run_id = i.held and h.fence is not distinct from i.fence;
  end if;
  v_before := v_ids;

  if p_idempotency is not null then
    with input as (
      select i.env, i.before as id, i.task, case when i.before = i.id then i.key end as key, i.expires_at, i.ix
        from unnest(p_env, p_id, p_task, p_idempotency, p_idempotency_expires, v_before)
               with ordinality as i (env, id, task, key, expires_at, before, ix)
    ), kept as (
      insert into idempotency_keys as k (env, task, key, run_id, expires_at)
      select env, task, key, id, expires_at from input where key is not null order by env, task, key
      on conflict (env, task, key) do update set
        (run_id, expires_at) = (
          select case when s.stale then excluded.run_id else k.run_id end,
                 case when s.stale then excluded.expires_at else k.expires_at end
            -- an attempt that runs again finds what it waited for, however that ended
            from (select k.expires_at <= p_at or left(k.key, 1) <> E'\x01' and exists (
                    select from runs r where r.env = k.env and r.id = k.run_id
                       and r.status in ('FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT', 'EXPIRED')) as stale) s)
      returning k.env, k.task, k.key, k.run_id
    )
    select array_agg(coalesce(kept.run_id, input.id) order by input.ix)
      into v_ids
      from input left join kept on kept.env = input.env and kept.task = input.task and kept.key = input.key;
  end if;
  v_cached := array(select v_ids[g.i] <> v_before[g.i] from generate_subscripts(p_id, 1) as g (i) order by g.i);

  if p_debounce is not null then
    -- in one order for everybody
    for v_ix in
      select g.i from generate_subscripts(p_id, 1) as g (i)
       where p_debounce[g.i] is not null and v_ids[g.i] = p_id[g.i] order by p_env[g.i], p_task[g.i], p_debounce[g.i]
    loop
      insert into debounces as d (env, task, key, run_id, due) values (p_env[v_ix], p_task[v_ix], p_debounce[v_ix], p_id[v_ix], p_due[v_ix])
      on conflict (env, task, key) do update set due = d.due
      returning d.run_id into v_other;
      continue when v_other = p_id[v_ix];
      -- still delayed, it is pushed; else this call makes the next one
      with pushed as (
        update delayed d
           set due = case when p_debounce_ms[v_ix] is null then p_due[v_ix]
                          else least(p_due[v_ix], r.created_at + make_interval(secs => p_debounce_ms[v_ix] / 1000.0)) end
          from runs r
         where d.env = p_env[v_ix] and d.run_id = v_other and not d.retry and d.due - p_at > interval '0' and r.env = d.env and r.id = d.run_id
           and (p_debounce_ms[v_ix] is null or r.created_at + make_interval(secs => p_debounce_ms[v_ix] / 1000.0) > p_at)
        returning d.due
      ), changed as (
        update runs r set
          delayed_until = pushed.due, ord = (extract(epoch from pushed.due) * 1000)::bigint - r.priority_ms, updated_at = p_at,
          payload = case when p_trailing[v_ix] then p_payload[v_ix] else r.payload end,
          payload_type = case when p_trailing[v_ix] then p_payload_type[v_ix] else r.payload_type end,
          metadata = case when p_trailing[v_ix] then p_metadata[v_ix] else r.metadata end,
          tags = case when p_trailing[v_ix] then (select array_agg(t) from jsonb_array_elements_text(p_tags[v_ix]) as t) else r.tags end,
          max_attempts = case when p_trailing[v_ix] then p_max_attempts[v_ix] else r.max_attempts end,
          max_duration = case when p_trailing[v_ix] then p_max_duration[v_ix] else r.max_duration end,
          machine = case when p_trailing[v_ix] then p_machine[v_ix] else r.machine end
          from pushed where r.env = p_env[v_ix] and r.id = v_other
        returning r.id
      )
      update debounces d set due = pushed.due from pushed
       where d.env = p_env[v_ix] and d.task = p_task[v_ix] and d.key = p_debounce[v_ix];
      if found then
        v_ids[v_ix] := v_other;
        if p_trailing[v_ix] then
          perform note_facets(array_agg(p_env[v_ix]), array_agg(f.facet), array_agg(v_other))
             from (select 'g:' || t.tag from jsonb_array_elements_text(p_tags[v_ix]) as t (tag)
                   union all select 'm:' || p_machine[v_ix]) as f (facet) where f.facet is not null having count(*) > 0;
        end if;
        if p_idempotency[v_ix] is not null then
          update idempotency_keys k set run_id = v_other
           where k.env = p_env[v_ix] and k.task = p_task[v_ix] and k.key = p_idempotency[v_ix];
        end if;
      else
        update debounces d set run_id = p_id[v_ix], due = p_due[v_ix]
         where d.env = p_env[v_ix] and d.task = p_task[v_ix] and d.key = p_debounce[v_ix];
      end if;
    end loop;
  end if;

  select array_agg(g.i) into v_new from generate_subscripts(p_id, 1) as g (i) where v_ids[g.i] = p_id[g.i];

  insert into runs (env, id, task, queue_id, concurrency_key, payload, payload_type, version_id, max_attempts, max_duration,
                    machine, ttl, ord, priority_ms, tags, metadata, is_test, idempotency_key, idempotency_key_options,
                    parent_id, root_id, depth, created_at, delayed_until, schedule_id, event, batch_id, request_key, debounce_key,
                    replay_of, region)
  select i.env, i.id, i.task, i.queue_id, nullif(i.key, ''), i.payload, i.payload_type, nullif(i.route, 0), i.max_attempts,
         i.max_duration, i.machine, i.ttl, i.ord, coalesce(i.priority, 0),
         (select array_agg(t) from jsonb_array_elements_text(i.tags) as t), i.metadata, coalesce(i.test, false),
         i.idempotency, i.idempotency_options, i.parent, i.root, coalesce(i.depth, 0::smallint), p_at, i.due, i.schedule, i.event,
         i.batch, i.request, i.debounce, i.replay_of, i.region
    from unnest(p_env, p_id, p_task, p_queue, p_key, p_route, p_ord, p_payload, p_payload_type, p_ttl, p_due, p_idempotency,
                p_idempotency_options, p_tags, p_metadata, p_max_attempts, p_max_duration, p_machine, p_priority, p_test,
                p_parent, v_root, v_depth, p_schedule, p_event, p_batch, p_request, p_debounce, p_replay_of, p_region)
           with ordinality as i (env, id, task, queue_id, key, route, ord, payload, payload_type, ttl, due, idempotency,
                idempotency_options, tags, metadata, max_attempts, max_duration, machine, priority, test, parent, root, depth, schedule, event,
                batch, request, debounce, replay_of, region, ix)
   where cardinality(v_new) = cardinality(p_id) or i.ix = any (v_new);

  with kinds as materialized (
    select distinct p_env[g.i] as env, p_task[g.i] as task, p_queue[g.i] as queue_id, left(p_id[g.i], 10) as span
      from unnest(v_new) as g (i)
  )
  insert into run_facets (env, facet, span)
  select k.env, f.facet, k.span
    from kinds k
    join queues q on q.id = k.queue_id
    cross join lateral unnest(case when q.name = 'task/' || k.task then array['o:' || k.task]
                                   else array['t:' || k.task, 'q:' || k.queue_id] end) as f (facet)
   order by 1, 2, 3
  on conflict do nothing;
  if p_tags is not null or p_machine is not null or p_region is not null or p_test is not null or p_schedule is not null
    or 0 <> any (p_route) then
    perform note_facets(array_agg(p_env[g.i]), array_agg(f.facet), array_agg(p_id[g.i]))
       from unnest(v_new) as g (i)
       cross join lateral (
         select 'g:' || t.tag from jsonb_array_elements_text(p_tags[g.i]) as t (tag)
         union all select 'm:' || p_machine[g.i]
         union all select 'r:' || p_region[g.i]
         union all select 'd' where p_test[g.i]
         union all select 'c:' || p_schedule[g.i]
         union all select 'v:' || nullif(p_route[g.i], 0)
       ) as f (facet)
      where f.facet is not null having count(*) > 0;
  end if;

  if p_runner is not null then
    with leased as (
      insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at)
      select i.env, i.id, i.runner, i.queue_id, i.key, i.version, 1, p_at
        from unnest(p_env, p_id, p_state, p_queue, p_key, p_route, p_runner, p_runner_version)
               with ordinality as i (env, id, state, queue_id, key, route, runner, version, ix)
        join runners r on r.id = i.runner
       where i.runner is not null and i.state = 'queued' and i.ix = any (v_new)
         and exists (select from queues q
                      where q.id = i.queue_id and not q.paused and q.concurrency_limit is null and q.concurrency_override is null)
         and exists (select from environments e where e.id = i.env and not e.paused and e.concurrency_limit is null)
         and (select true from lanes l
               cross join lateral (select from queued w where w.lane_id = l.id limit 1) w
               where l.queue_id = i.queue_id and l.key = i.key and l.route = i.route limit 1) is null
         for key share of r
      returning run_id, fence
    )
    select coalesce(array_agg(array_position(p_id, leased.run_id)), '{}'), coalesce(array_agg(leased.fence), '{}')
      into v_leased, v_fences from leased;
  end if;

  select array_agg(g.i) into v_queue
    from unnest(v_new) as g (i) where p_state[g.i] = 'queued' and not g.i = any (v_leased);
  if cardinality(v_queue) = cardinality(p_id) then
    perform enqueue_runs(p_env, p_queue, p_key, p_route, p_ord, p_id, p_expires);
  elsif v_queue is not null then
    perform enqueue_runs(array_agg(p_env[g.i]), array_agg(p_queue[g.i]), array_agg(p_key[g.i]), array_agg(p_route[g.i]),
                         array_agg(p_ord[g.i]), array_agg(p_id[g.i]), array_agg(p_expires[g.i]))
       from unnest(v_queue) as g (i);
  end if;

  if 'delayed' = any (p_state) then
    insert into delayed (env, run_id, due)
    select p_env[g.i], p_id[g.i], p_due[g.i] from unnest(v_new) as g (i) where p_state[g.i] = 'delayed';
  end if;
  if 'parked' = any (p_state) then
    insert into parked (env, task, run_id, expires_at)
    select p_env[g.i], p_task[g.i], p_id[g.i], p_expires[g.i] from unnest(v_new) as g (i) where p_state[g.i] = 'parked';
  end if;

  return query
    select g.i, v_ids[g.i], v_cached[g.i], v_fences[array_position(v_leased, g.i)], v_root[g.i], v_refused[g.i]
      from generate_subscripts(p_id, 1) as g (i);
end $$;
