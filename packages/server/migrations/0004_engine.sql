-- The verbs of the run engine that need more than one statement to be right. Each is one round trip and one commit.
--
-- Who locks what, always in this order: the runner, the environment's claim lock (advisory), leases by run, lanes by id, runs by id.
--   * Claims of one environment take turns on its claim lock. So does whatever frees a place of a limited queue.
--   * Whoever puts a run into a lane holds the lane `for key share`, so that a claim cannot drop the lane under it.
--   * Whoever leases to a runner holds the runner's row `for key share`, so that a rescue sees every lease it must take back.

create function claim_lock(p_env int) returns void language sql as
$$ select pg_advisory_xact_lock(7144002, p_env) $$;

-- Puts runs into their lanes, making lanes that are missing.
create function enqueue_runs(
  p_env int[], p_queue int[], p_key text[], p_route int[], p_ord bigint[], p_run text[], p_expires timestamptz[]
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
  v_left int := cardinality(p_run);
  v_count int;
begin
  loop
    insert into queued (lane_id, ord, run_id, env, expires_at)
    select l.id, i.ord, i.run_id, i.env, i.expires_at
      from unnest(p_env, p_queue, p_key, p_route, p_ord, p_run, p_expires)
             as i (env, queue_id, key, route, ord, run_id, expires_at)
      -- The arguments may bring the collation of ids along; with it the index of the lanes would be of no use for their keys.
      join lanes l on l.env = i.env and l.queue_id = i.queue_id and l.key = i.key collate "default" and l.route = i.route
       for key share of l
    on conflict do nothing;
    get diagnostics v_count = row_count;
    v_left := v_left - v_count;
    exit when v_left <= 0;
    -- in one order for everybody, so that two of these cannot wait for each other
    insert into lanes (env, queue_id, key, route)
    select distinct i.env, i.queue_id, i.key, i.route
      from unnest(p_env, p_queue, p_key, p_route) as i (env, queue_id, key, route)
     order by 1, 2, 3, 4
    on conflict do nothing;
  end loop;
end $$;

-- Records in which spans of ids there are runs with these facets (0007), in one order for everybody.
create function note_facets(p_env int[], p_facet text[], p_run text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
  insert into run_facets (env, facet, span)
  select distinct i.env, i.facet, left(i.run_id, 10) from unnest(p_env, p_facet, p_run) as i (env, facet, run_id)
   where i.facet is not null order by 1, 2, 3
  on conflict do nothing;
end $$;

-- Holds the parents of runs that are about to be created until they are: no attempt is taken over and no run is cancelled in between.
-- With a fence the parent is a live attempt: its lease is held, or what is kept of it while it waits (0011). Without one it is any run.
-- `refused`: `unknown`, `canceled`, or `stale` (the attempt is over, or another one has the run).
create function hold_parents(p_env int[], p_run text[], p_fence bigint[])
returns table (env int, run_id text, fence bigint, root text, depth smallint, status text, refused text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  p record;
  v_held boolean;
begin
  -- in one order for everybody
  for p in
    select distinct i.env, i.run_id collate "C" as run_id, i.fence from unnest(p_env, p_run, p_fence) as i (env, run_id, fence)
     where i.run_id is not null order by 1, 2, 3
  loop
    env := p.env;
    run_id := p.run_id;
    fence := p.fence;
    if p.fence is null then
      select coalesce(r.root_id, r.id), r.depth, r.status into root, depth, status
        from runs r where r.env = p.env and r.id = p.run_id for share;
      v_held := found;
      refused := case when not v_held then 'unknown' when status = 'CANCELED' then 'canceled' end;
    else
      -- It may go from one to the other meanwhile, and back.
      for v_look in 1 .. 3 loop
        if v_look = 2 then
          perform from suspended s where s.env = p.env and s.run_id = p.run_id and s.fence = p.fence for key share;
        else
          perform from leases l where l.env = p.env and l.run_id = p.run_id and l.fence = p.fence for key share;
        end if;
        v_held := found;
        exit when v_held;
      end loop;
      select coalesce(r.root_id, r.id), r.depth, r.status into root, depth, status
        from runs r where r.env = p.env and r.id = p.run_id;
      refused := case when not v_held then 'stale' end;
    end if;
    return next;
  end loop;
end $$;

-- Creates runs: one call carries what many callers triggered at once. `p_state` says where a run waits (queued, delayed,
-- parked); `p_runner`, where given, is a runner of the calling process with a free slot: the run is leased to it in the same
-- commit if nothing limits its queue and nobody is ahead of it, and queued otherwise.
-- A repeated request (`p_request`) leads to the run that it made the first time. A debounced run (`p_debounce`) gives way to the one
-- that still waits under its key: that one is due later, with the new data if `p_trailing`. A run that is `held` goes nowhere until
-- its batch is sealed (0010). A run that comes with its parent but without its root has that parent held and its place in the tree found
-- out; `refused` says why it was not created for its parent's sake.
-- Replies one row a run: which run it became (an idempotency key may name an older one) and the fence of its lease, if any.
create function trigger_runs(
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
            -- an attempt that runs again finds what it waited for (0011), however that ended
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
         where d.env = p_env[v_ix] and d.run_id = v_other and not d.retry and d.due > p_at and r.env = d.env and r.id = d.run_id
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
         and not exists (select from lanes l join queued w on w.lane_id = l.id
                          where l.env = i.env and l.queue_id = i.queue_id and l.key = i.key and l.route = i.route)
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

-- What a claim keeps of a run while it goes on to the next lanes.
create type claimed_run as (
  run_id text, fence bigint, attempt int, version_id int, task text, payload text, payload_type text, metadata text,
  tags text[], is_test boolean, queue_id int, concurrency_key text, max_attempts int, max_duration int, machine text,
  priority_ms int, created_at timestamptz, parent_id text, root_id text, schedule_id text, event text, batch_id text,
  started_at timestamptz
);

-- Leases up to `p_want` runs of one environment to a runner. `p_routes` are the lanes it can serve: ids of versions, and 0 if it
-- has the current one (`p_current`). Walks the ring of ready lanes from `p_turn`, takes from each its share, and returns the
-- turn of the last lane that gave one: the next claim starts behind it. Fewer than `p_want` means that nothing more can be had.
create function claim_runs(
  p_env int, p_runner text, p_routes int[], p_current int, p_want int, p_turn int, p_at timestamptz
) returns table (
  run_id text, fence bigint, attempt int, version_id int, turn int, task text, payload text, payload_type text, metadata text,
  tags text[], is_test boolean, queue_id int, concurrency_key text, max_attempts int, max_duration int, machine text,
  priority_ms int, created_at timestamptz, parent_id text, root_id text, schedule_id text, event text, batch_id text,
  started_at timestamptz
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  -- as many as one turn can use, within bounds: a page costs what it reads
  c_page constant int := least(256, greatest(64, p_want));
  v_want int := p_want;
  v_limit int;
  v_turn int := p_turn;
  v_last int := p_turn;
  v_wrapped boolean := false;
  v_lanes bigint[];
  v_route int[];
  v_turns int[];
  v_room int[];
  v_place bigint[];
  v_taken claimed_run[];
  v_runs claimed_run[] := '{}';
  v_idle bigint[] := '{}';
  v_full bigint[] := '{}';
  v_found int;
  v_share int;
  v_more boolean := false;
  -- suspended runs that are ready (0011): their places are not for runs that have not begun
  v_owed boolean;
begin
  perform from runners r where r.id = p_runner for key share;
  if not found then return; end if;
  perform claim_lock(p_env);
  select e.concurrency_limit into v_limit from environments e where e.id = p_env and not e.paused;
  if not found then return; end if;
  v_owed := exists (select from suspended s where s.env = p_env and s.ready_at is not null);
  if v_limit is not null then
    v_want := least(v_want, v_limit - (select count(*) from leases l where l.env = p_env)::int
                            - case when v_owed then owed_places(p_env) else 0 end);
  end if;

  while v_want > 0 loop
    -- one page of the ring, and how much room each lane's place has
    select array_agg(p.id), array_agg(p.route), array_agg(p.turn), array_agg(p.room), array_agg(p.place)
      into v_lanes, v_route, v_turns, v_room, v_place
      from (
        select l.id, r.route, l.turn,
               -- Lanes of several routes may share a place, and then its room. Should two places ever be the same number, they
               -- share the room of this page.
               hashtextextended(l.key, l.queue_id) as place,
               case when q.paused then 0
                    when coalesce(q.concurrency_override, q.concurrency_limit) is null then v_want
                    else greatest(0, coalesce(q.concurrency_override, q.concurrency_limit)
                         - (select count(*) from leases x where x.env = p_env and x.queue_id = l.queue_id and x.key = l.key)::int
                         - case when v_owed then (select count(*) from suspended s
                              where s.env = p_env and s.queue_id = l.queue_id and s.key = l.key and s.ready_at is not null)::int else 0 end)
               end as room
          from unnest(p_routes) as r (route)
          cross join lateral (
            select n.id, n.queue_id, n.key, n.turn from lanes n
             where n.env = p_env and n.route = r.route and not n.blocked
               and n.turn > v_turn and (not v_wrapped or n.turn <= p_turn)
             order by n.turn limit c_page
          ) l
          join queues q on q.id = l.queue_id
         order by l.turn, l.id limit c_page
      ) p;
    v_found := coalesce(cardinality(v_lanes), 0);

    if v_found > 0 then
      v_share := greatest(1, (v_want + v_found - 1) / v_found);
      -- A lane that has nothing to give is in the head as well, without a row.
      with head as materialized (
        select p.lane_id, p.route, p.turn, p.room, h.row, h.ord, h.run_id,
               row_number() over (partition by p.place, h.row is null order by p.turn, h.ord, h.run_id) as nth
          from unnest(v_lanes, v_route, v_turns, v_room, v_place) as p (lane_id, route, turn, room, place)
          left join lateral (
            select w.ctid as row, w.ord, w.run_id from queued w
             where w.lane_id = p.lane_id and (w.expires_at is null or w.expires_at > p_at)
             order by w.ord, w.run_id
             limit least(p.room, v_share)
          ) h on true
      ), taken as (
        delete from queued w
         using (select * from head where row is not null and nth <= room order by turn, ord, run_id limit v_want) h
         where w.ctid = h.row
        returning w.lane_id, w.run_id, h.route, h.turn
      ), claimed as materialized (
        select t.lane_id, t.turn, t.run_id, nextval('lease_fences') as fence, x.attempt + 1 as attempt,
               case when t.route = 0 then p_current else t.route end as version_id, x.task, x.payload, x.payload_type,
               x.metadata, x.tags, x.is_test, x.queue_id, x.concurrency_key, x.max_attempts, x.max_duration, x.machine,
               x.priority_ms, x.created_at, x.parent_id, x.root_id, x.schedule_id, x.event, x.batch_id, x.started_at
          from taken t
          cross join lateral (select r.* from runs r where r.env = p_env and r.id = t.run_id limit 1) x
      ), leased as (
        insert into leases (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, leased_at)
        select p_env, c.run_id, c.fence, p_runner, c.queue_id, coalesce(c.concurrency_key, ''), c.version_id, c.attempt, p_at
          from claimed c
      )
      select array_agg(row (c.run_id, c.fence, c.attempt, c.version_id, c.task, c.payload, c.payload_type, c.metadata, c.tags,
                            c.is_test, c.queue_id, c.concurrency_key, c.max_attempts, c.max_duration, c.machine, c.priority_ms,
                            c.created_at, c.parent_id, c.root_id, c.schedule_id, c.event, c.batch_id, c.started_at)::claimed_run),
             coalesce(max(c.turn), v_last),
             v_more or exists (select from claimed x group by x.lane_id having count(*) >= v_share),
             v_full || array(select h.lane_id from head h where h.room = 0),
             v_idle || array(select h.lane_id from head h where h.room > 0 and h.row is null)
        into v_taken, v_last, v_more, v_full, v_idle
        from claimed c;

      if v_taken is not null then
        v_runs := v_runs || v_taken;
        v_want := v_want - cardinality(v_taken);
      end if;
      v_turn := v_turns[v_found];
    end if;

    if v_found < c_page then
      if not v_wrapped and p_turn >= 0 then
        v_wrapped := true;
        v_turn := -1;
      else
        -- once around; again while some lane gave its whole share and there is want left
        exit when not v_more;
        v_more := false;
        v_wrapped := false;
        v_turn := p_turn;
        v_idle := '{}';
        v_full := '{}';
      end if;
    end if;
  end loop;

  -- What cannot give leaves the ring: full lanes are blocked, and idle ones dropped once there are more than a handful (a few
  -- are kept, because a lane that empties often fills again at once). Each is locked and looked at again in a new snapshot:
  -- a release or an enqueue that committed meanwhile would otherwise be missed.
  if cardinality(v_full) > 0 then
    perform from lanes l where l.id = any (v_full) order by l.id for no key update;
    update lanes l set blocked = true
      from queues q
     where l.id = any (v_full) and q.id = l.queue_id
       and (q.paused or coalesce(q.concurrency_override, q.concurrency_limit)
            <= (select count(*) from leases x where x.env = p_env and x.queue_id = l.queue_id and x.key = l.key));
  end if;
  if cardinality(v_idle) > 8 then
    select array_agg(s.id) into v_lanes
      from (select l.id from lanes l where l.id = any (v_idle) order by l.id for update skip locked) s;
    delete from lanes l where l.id = any (v_lanes) and not exists (select from queued w where w.lane_id = l.id);
  end if;

  return query
    select c.run_id, c.fence, c.attempt, c.version_id, v_last, c.task, c.payload, c.payload_type, c.metadata, c.tags, c.is_test,
           c.queue_id, c.concurrency_key, c.max_attempts, c.max_duration, c.machine, c.priority_ms, c.created_at, c.parent_id,
           c.root_id, c.schedule_id, c.event, c.batch_id, c.started_at
      from unnest(v_runs) as c;
end $$;

-- Frees the lanes of these places. Called by whoever ended leases there; harmless where nothing is blocked.
create function free_places(p_env int[], p_queue int[], p_key text[]) returns void
language sql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
  update lanes l set blocked = false
    from (select distinct * from unnest(p_env, p_queue, p_key) as i (env, queue_id, key)) i
   where l.env = i.env and l.queue_id = i.queue_id and l.key = i.key and l.blocked
     -- asked once, not for each place
     and exists (select from lanes b where b.blocked and b.env = any (p_env))
$$;

-- Takes the claim locks of the environments in which something limits these queues: freeing such a place must not slip between a
-- claim's count and its mark. True if there is such a limit: somebody may be waiting for the place.
create function lock_limited(p_env int[], p_queue int[]) returns boolean
language plpgsql as $$
declare
  v_limited int[];
begin
  select array_agg(distinct i.env order by i.env) into v_limited
    from (select distinct * from unnest(p_env, p_queue) as i (env, queue_id)) i
    join queues q on q.id = i.queue_id join environments e on e.id = i.env
   where coalesce(q.concurrency_override, q.concurrency_limit, e.concurrency_limit) is not null;
  if v_limited is null then return false; end if;
  perform claim_lock(g.env) from unnest(v_limited) as g (env);
  return true;
end $$;

-- Puts runs back where they wait: into the lane of their version if they are bound to one.
create function requeue_runs(p_env int[], p_run text[]) returns void
language plpgsql as $$
begin
  perform enqueue_runs(array_agg(r.env), array_agg(r.queue_id), array_agg(coalesce(r.concurrency_key, '')),
                       array_agg(coalesce(r.version_id, 0)), array_agg(r.ord), array_agg(r.id), null)
     from unnest(p_env, p_run) as i (env, run_id) join runs r on r.env = i.env and r.id = i.run_id
   having count(*) > 0;
end $$;

-- `limited` in the reply: a place came free that somebody may be waiting for. `woke`: suspended runs are ready.
-- Records how attempts ended. `p_kind` is a final status, or `retry` (again at `p_due`), `released` (given back unstarted) or
-- `parked` (its version lacks the task). A fence that is not live is refused: the attempt belongs to somebody else by now.
-- A run whose cancellation was asked for ends CANCELED whatever its attempt says, and with it what it triggered meanwhile: those live
-- attempts that are asked to stop are in the reply (`asked_runner`, `asked_fence`), the same in each row.
-- Failures carry the fingerprint of their error; the occurrence commits with the run or not at all.
create function settle_runs(
  p_at timestamptz, p_env int[], p_run text[], p_fence bigint[], p_kind text[], p_output text[], p_output_type text[],
  p_error jsonb[], p_due timestamptz[], p_fingerprint int[],
  p_revision int[] default null
) returns table (ix int, kind text, limited boolean, woke boolean, asked_runner text[], asked_fence text[])
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_place tid[];
  v_ix int[];
  v_kind text[];
  v_env int[];
  v_queue int[];
  v_key text[];
  v_version int[];
  v_leased timestamptz[];
  v_attempt int[];
  v_limited boolean;
  v_asked_runner text[];
  v_asked_fence text[];
  v_ended record;
  c_failed constant text[] := '{FAILED,CRASHED,SYSTEM_FAILURE,TIMED_OUT}';
begin
  -- Each lease is fetched through its key, one at a time: under the statistics of a table that was empty a moment ago, a join would
  -- read every lease of the environment for each of them. Locked in the order of the runs.
  select lock_limited(array_agg(l.env), array_agg(l.queue_id)) into v_limited
    from unnest(p_env, p_run) as i (env, run_id)
    cross join lateral (select x.env, x.queue_id from leases x where x.env = i.env and x.run_id = i.run_id limit 1) l;

  for v_round in 1 .. 2 loop
    select array_agg(l.place), array_agg(i.ix) into v_place, v_ix
      from (select * from unnest(p_env, p_run, p_fence) with ordinality as i (env, run_id, fence, ix) order by run_id) i
      cross join lateral (
        select x.ctid as place from leases x where x.env = i.env and x.run_id = i.run_id and x.fence = i.fence limit 1 for update
      ) l;
    -- One that is missing may be suspended (0011): its code ended although it waits.
    exit when cardinality(v_place) = cardinality(p_run) or not return_leases(p_at, p_env, p_run, p_fence);
  end loop;
  -- A statement of its own: only a new snapshot sees a cancellation that committed while we waited for the lock.
  with gone as (
    delete from leases l using unnest(v_place, v_ix) as live (place, ix) where l.ctid = live.place
    returning l.env, l.queue_id, l.key, l.version_id, l.leased_at, l.attempt, l.cancel_requested, live.ix
  )
  select array_agg(g.ix), array_agg(case when g.cancel_requested then 'CANCELED' else p_kind[g.ix] end), array_agg(g.env),
         array_agg(g.queue_id), array_agg(g.key), array_agg(g.version_id), array_agg(g.leased_at), array_agg(g.attempt)
    into v_ix, v_kind, v_env, v_queue, v_key, v_version, v_leased, v_attempt
    from gone g;
  if v_ix is null then return; end if;

  with written as (
  update runs r set
    status = case when g.kind in ('retry', 'released', 'parked') then null else g.kind end,
    finished_at = case when g.kind in ('retry', 'released', 'parked') then null else p_at end,
    output = case when g.kind = 'COMPLETED' then p_output[g.ix] end,
    output_type = case when g.kind = 'COMPLETED' then p_output_type[g.ix] end,
    error = case when g.kind in ('COMPLETED', 'CANCELED', 'released', 'parked') then r.error else p_error[g.ix] end,
    attempt = case when g.kind in ('released', 'parked') then r.attempt else g.attempt end,
    version_id = case when g.kind in ('released', 'parked') then r.version_id else g.version_id end,
    env_revision = case when g.kind in ('released', 'parked') then r.env_revision else p_revision[g.ix] end,
    started_at = case when g.kind in ('released', 'parked') then r.started_at else coalesce(r.started_at, g.leased_at) end,
    duration_ms = case when g.kind in ('released', 'parked') then r.duration_ms
                       else r.duration_ms + greatest(0, extract(epoch from p_at - g.leased_at) * 1000)::bigint end,
    ord = case when g.kind = 'retry' then (extract(epoch from p_due[g.ix]) * 1000)::bigint - r.priority_ms else r.ord end,
    error_fingerprint_id = case when g.kind = any (c_failed) then p_fingerprint[g.ix] end,
    updated_at = p_at
    from unnest(v_ix, v_kind, v_env, v_version, v_leased, v_attempt) as g (ix, kind, env, version_id, leased_at, attempt)
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
    cross join lateral unnest(case when g.kind = 'retry' then array['v:' || g.version_id]
                                   else array['s:' || g.kind, 'v:' || g.version_id] end) as f (facet)
   where g.kind not in ('released', 'parked') order by 1, 2, 3
  on conflict do nothing;
  if v_kind && '{CANCELED,FAILED,CRASHED,SYSTEM_FAILURE,TIMED_OUT}' then
    perform note_facets(array_agg(r.env), array_agg(f.facet), array_agg(r.id))
       from unnest(v_ix, v_kind, v_env) as g (ix, kind, env) join runs r on r.env = g.env and r.id = p_run[g.ix]
       cross join lateral (select 'e:' || g.kind || ':' || r.task) as f (facet)
      where g.kind in ('CANCELED', 'FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT');
  end if;

  if 'retry' = any (v_kind) then
    insert into delayed (env, run_id, due, retry)
    select g.env, p_run[g.ix], p_due[g.ix], true from unnest(v_ix, v_kind, v_env) as g (ix, kind, env) where g.kind = 'retry';
  end if;
  if 'released' = any (v_kind) then
    perform requeue_runs(array_agg(g.env), array_agg(p_run[g.ix]))
       from unnest(v_ix, v_kind, v_env) as g (ix, kind, env) where g.kind = 'released';
  end if;
  if 'parked' = any (v_kind) then
    insert into parked (env, task, run_id)
    select r.env, r.task, r.id from unnest(v_ix, v_kind, v_env) as g (ix, kind, env)
      join runs r on r.env = g.env and r.id = p_run[g.ix] where g.kind = 'parked';
  end if;

  if v_limited then
    perform free_places(v_env, v_queue, v_key);
  end if;

  if v_kind && c_failed and exists (select from notification_endpoints) then
    perform notify_failed_runs(array_agg(g.env), array_agg(p_run[g.ix]))
       from unnest(v_ix, v_kind, v_env) as g (ix, kind, env) where g.kind = any (c_failed);
  end if;

  if 'CANCELED' = any (v_kind) then
    -- Those that were asked to stop already end by themselves, perhaps in this very moment. What is triggered later is refused: the lease
    -- is gone, and the run is over.
    for v_ended in
      select g.env, p_run[g.ix] as run from unnest(v_ix, v_kind, v_env) as g (ix, kind, env)
       where g.kind = 'CANCELED' and exists (select from runs c where c.env = g.env and c.parent_id = p_run[g.ix]) order by 2
    loop
      select v_asked_runner || array_agg(c.runner_id), v_asked_fence || array_agg(c.fence::text) into v_asked_runner, v_asked_fence
        from cancel_runs(v_ended.env, v_ended.run, p_at, true) c;
    end loop;
  end if;

  return query
    select g.ix, g.kind, v_limited,
           exists (select from suspended s where s.env = any (v_env) and s.ready_at is not null), v_asked_runner, v_asked_fence
      from unnest(v_ix, v_kind) as g (ix, kind);
end $$;

-- Takes back what a runner holds. With `p_lost` the runner is gone: its row is dropped first (which waits for claims that lease to
-- it and fences later ones), each run counts the loss, and one that was lost more than `p_most` times is returned for ending.
-- It is gone if its connection `p_connection` ended and it has no newer one, or, without that, if its lease ran out.
-- Without `p_lost` the runner lives, and only the fences that it does not hold (`p_held`) are taken back, uncounted.
create function take_back(
  p_runner text, p_at timestamptz, p_lost boolean, p_connection text, p_held bigint[], p_held_since timestamptz, p_most int
)
returns table (env int, run_id text, verdict text, fence bigint)
language plpgsql
as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_verdict text[];
  v_queue int[];
  v_key text[];
  v_version int[];
  v_fence bigint[];
begin
  if p_lost then
    delete from runners r where r.id = p_runner
       and case when p_connection is null then r.expires_at <= p_at else r.connection = p_connection end;
    if not found and exists (select from runners r where r.id = p_runner) then return; end if;
  end if;
  perform lock_limited(array_agg(l.env), array_agg(l.queue_id)) from leases l where l.runner_id = p_runner having count(*) > 0;
  with live as materialized (
    select l.env, l.run_id, l.fence from leases l
     where l.runner_id = p_runner and (p_lost or not l.fence = any (p_held) and l.leased_at <= p_held_since)
     order by l.run_id for update
  ), judged as (
    select live.*, l.queue_id, l.key, l.version_id,
           case when l.cancel_requested then 'canceled' when p_lost and r.rescues >= p_most then 'crashed' else 'queued' end as verdict
      from live join leases l on l.env = live.env and l.run_id = live.run_id
      join runs r on r.env = live.env and r.id = live.run_id
  ), gone as (
    -- a run past its last rescue keeps its lease: the caller ends it through settle_runs, with its error
    delete from leases l using judged j where l.env = j.env and l.run_id = j.run_id and l.fence = j.fence and j.verdict = 'queued'
  )
  select array_agg(j.env), array_agg(j.run_id), array_agg(j.verdict), array_agg(j.queue_id), array_agg(j.key),
         array_agg(j.version_id), array_agg(j.fence)
    into v_env, v_run, v_verdict, v_queue, v_key, v_version, v_fence
    from judged j;
  -- Its suspended runs (0011) go on elsewhere; that they were lost is nothing they did.
  return query select * from detach_runs(p_runner, case when p_lost then null else p_held end, p_held_since);
  if v_run is null then return; end if;

  if p_lost then
    update runs r set rescues = r.rescues + 1, version_id = g.version_id, updated_at = p_at
      from unnest(v_env, v_run, v_verdict, v_version) as g (env, run_id, verdict, version_id)
     where r.env = g.env and r.id = g.run_id and g.verdict = 'queued';
    perform note_facets(array_agg(g.env), array_agg('v:' || g.version_id), array_agg(g.run_id))
       from unnest(v_env, v_run, v_verdict, v_version) as g (env, run_id, verdict, version_id)
      where g.verdict = 'queued' having count(*) > 0;
  end if;
  perform requeue_runs(array_agg(g.env), array_agg(g.run_id))
     from unnest(v_env, v_run, v_verdict) as g (env, run_id, verdict) where g.verdict = 'queued';
  perform free_places(v_env, v_queue, v_key);
  return query select * from unnest(v_env, v_run, v_verdict, v_fence);
end $$;

-- Moves runs whose time has come (delay, retry) into their lanes, or parks them when the current version lacks their task.
create function promote_due(p_at timestamptz, p_limit int) returns table (env int)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_parked boolean[];
begin
  with due as materialized (
    select d.ctid as place from delayed d where d.due <= p_at order by d.due limit p_limit for update skip locked
  ), gone as (
    delete from delayed d where d.ctid = any (array(select place from due)) returning d.env, d.run_id
  )
  select array_agg(g.env), array_agg(g.run_id),
         array_agg(r.version_id is null and not exists (
           select from current_versions c join tasks t on t.version_id = c.version_id where c.env = g.env and t.id = r.task))
    into v_env, v_run, v_parked
    from gone g join runs r on r.env = g.env and r.id = g.run_id;
  if v_run is null then return; end if;

  perform enqueue_runs(array_agg(r.env), array_agg(r.queue_id), array_agg(coalesce(r.concurrency_key, '')),
                       array_agg(coalesce(r.version_id, 0)), array_agg(r.ord), array_agg(r.id),
                       array_agg(case when r.attempt = 0 and r.ttl > 0 then p_at + make_interval(secs => r.ttl) end))
     from unnest(v_env, v_run, v_parked) as g (env, run_id, parked) join runs r on r.env = g.env and r.id = g.run_id
    where not g.parked having count(*) > 0;
  insert into parked (env, task, run_id, expires_at)
  select r.env, r.task, r.id, case when r.ttl > 0 then p_at + make_interval(secs => r.ttl) end
    from unnest(v_env, v_run, v_parked) as g (env, run_id, parked) join runs r on r.env = g.env and r.id = g.run_id
   where g.parked;
  return query select distinct e from unnest(v_env) as e;
end $$;

-- Queues parked runs whose task the current version knows.
create function unpark_runs(p_env int, p_at timestamptz, p_limit int) returns int
language plpgsql as $$
declare
  v_run text[];
  v_expires timestamptz[];
begin
  with found as materialized (
    select p.ctid as place from current_versions c
      join tasks t on t.version_id = c.version_id
      cross join lateral (
        select x.ctid from parked x where x.env = p_env and x.task = t.id order by x.run_id limit p_limit for update skip locked
      ) p
     where c.env = p_env limit p_limit
  ), gone as (
    delete from parked p where p.ctid = any (array(select place from found)) returning p.run_id, p.expires_at
  )
  select array_agg(g.run_id), array_agg(g.expires_at) into v_run, v_expires from gone g;
  if v_run is null then return 0; end if;
  perform enqueue_runs(array_agg(r.env), array_agg(r.queue_id), array_agg(coalesce(r.concurrency_key, '')),
                       array_agg(coalesce(r.version_id, 0)), array_agg(r.ord), array_agg(r.id), array_agg(g.expires_at))
     from unnest(v_run, v_expires) as g (run_id, expires_at)
     -- not a join: planned while there are few runs, it would look through all of the environment's for each
     cross join lateral (select x.* from runs x where x.env = p_env and x.id = g.run_id limit 1) r;
  return cardinality(v_run);
end $$;

-- Ends runs that waited past their ttl without ever starting.
create function expire_due(p_at timestamptz, p_limit int) returns int
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
  v_env int[];
  v_task text[];
  v_run text[];
begin
  with late as materialized (
    select q.ctid as place from queued q where q.expires_at <= p_at order by q.expires_at limit p_limit for update skip locked
  ), gone as (
    delete from queued q where q.ctid = any (array(select place from late)) returning q.env, q.run_id
  ), late_parked as materialized (
    select p.ctid as place from parked p where p.expires_at <= p_at order by p.expires_at limit p_limit for update skip locked
  ), gone_parked as (
    delete from parked p where p.ctid = any (array(select place from late_parked)) returning p.env, p.run_id
  ), ended as (
    update runs r set status = 'EXPIRED', finished_at = p_at, updated_at = p_at
      from (select * from gone union all select * from gone_parked) g
     where r.env = g.env and r.id = g.run_id and r.status is null
    returning r.env, r.task, r.id
  )
  select array_agg(e.env), array_agg(e.task), array_agg(e.id) into v_env, v_task, v_run from ended e;
  if v_run is null then return 0; end if;
  perform note_facets(array_agg(g.env), array_agg(f.facet), array_agg(g.run_id))
     from unnest(v_env, v_task, v_run) as g (env, task, run_id)
     cross join lateral unnest(array['s:EXPIRED', 'e:EXPIRED:' || g.task]) as f (facet);
  return cardinality(v_run);
end $$;

-- Cancels a run and all its descendants. One that waits ends at once; a live attempt is asked to stop and its fence returned.
-- A run may move while we look (claimed, promoted, given back): it is looked for again until it is found somewhere.
-- `p_unasked`: only those that were not asked to stop before.
create function cancel_runs(p_env int, p_run text, p_at timestamptz, p_unasked boolean default false)
returns table (runner_id text, fence bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  v_run runs%rowtype;
  v_runner text;
  v_fence bigint;
  v_found boolean;
begin
  -- Who triggers something from one of them holds it (hold_parents), so that it is there at the next look, or finds it cancelled.
  for v_look in 1 .. 10 loop
    v_found := false;
    for v_run in
      with recursive tree as (
        select r.* from runs r where r.env = p_env and r.id = p_run
        union
        select r.* from tree t join runs r on r.env = p_env and r.parent_id = t.id
      )
      select * from tree where status is null
         and (v_look = 1 and not p_unasked
              or not exists (select from leases l where l.env = p_env and l.run_id = tree.id and l.cancel_requested)
             and not exists (select from suspended s where s.env = p_env and s.run_id = tree.id and s.cancel_requested))
       order by id
    loop
      v_found := true;
      for attempt in 1..50 loop
        update leases l set cancel_requested = true where l.env = p_env and l.run_id = v_run.id
        returning l.runner_id, l.fence into v_runner, v_fence;
        if found then
          runner_id := v_runner;
          fence := v_fence;
          return next;
          exit;
        end if;
        update suspended s set cancel_requested = true
         where s.env = p_env and s.run_id = v_run.id and s.runner_id is not null
        returning s.runner_id, s.fence into runner_id, fence;
        if found then
          return next;
          exit;
        end if;
        delete from queued q using lanes l
         where l.env = p_env and l.queue_id = v_run.queue_id and l.key = coalesce(v_run.concurrency_key, '')
           and q.lane_id = l.id and q.run_id = v_run.id and q.ord = v_run.ord;
        if not found then delete from delayed d where d.env = p_env and d.run_id = v_run.id; end if;
        if not found then delete from parked p where p.env = p_env and p.task = v_run.task and p.run_id = v_run.id; end if;
        if not found then
          delete from suspended s where s.env = p_env and s.run_id = v_run.id and s.runner_id is null;
        end if;
        if not found and v_run.batch_id is not null then
          -- held by an open batch: once it is sealed the run is somewhere else
          perform from batches b
            where b.env = p_env and b.id = v_run.batch_id and b.sealed_at is null and b.aborted_at is null for update;
        end if;
        if found then
          update runs r set status = 'CANCELED', finished_at = p_at, updated_at = p_at
           where r.env = p_env and r.id = v_run.id and r.status is null;
          perform note_facets(array[p_env, p_env], array['s:CANCELED', 'e:CANCELED:' || v_run.task], array[v_run.id, v_run.id]);
          exit;
        end if;
        select * into v_run from runs r where r.env = p_env and r.id = v_run.id;
        exit when v_run.status is not null;
      end loop;
    end loop;
    exit when not v_found;
  end loop;
end $$;
