-- Throughput that lasts.
--
-- Tables that a run only passes through are empty one moment and full the next, while their files stay large. When VACUUM or ANALYZE looks at
-- the wrong moment it writes that there are no rows. The planner then takes every way into the table for equally cheap: an index that has only
-- the first column of the key, or a join that reads the whole table for each row. Until the next autovacuum each look-up read all dead rows,
-- and throughput fell to a twentieth. So there is only one way for each look-up, whatever the statistics say (runs/plans.test.ts):
--   * No two indexes of such a table begin with a column that one statement compares with. A queue belongs to one environment, so places and
--     lanes are found by their queue. Where the environment still must be the same it is compared as `env + 0`, which no index has.
--   * A row is read by its key in a lateral subquery with a limit, which the planner cannot turn into another kind of join. Where there may be
--     several rows `offset 0` does the same.
--   * `(select true … limit 1) is null` stands for `not exists`, which the planner may turn into a join with the whole table.
--   * `num_nulls(x) = 1` stands for `x is null` beside a whole key: an index that begins with `x` would do for the latter.
--   * No bitmap scans: they do not mark dead index entries, so the next scan meets them again.

drop index leases_by_place;
create index leases_by_place on leases (queue_id, key);

alter table lanes drop constraint lanes_env_queue_id_key_route_key, add constraint lanes_by_place unique (queue_id, key, route);
-- For claims only, which ask for `route + 0`: `lanes_by_place` has the route as well.
drop index lanes_ready;
create index lanes_ready on lanes (env, (route + 0), turn) where not blocked;

drop index delayed_by_run;
create index delayed_first on delayed (env, run_id) where not retry;
create index delayed_again on delayed (env, run_id) where retry;

-- For lists only, which ask for it as it stands here: everybody else looks for a task, or for the whole key.
drop index parked_by_run;
create index parked_by_run on parked ((env + 0), (run_id || ''));

drop index suspended_ready;
create index suspended_ready on suspended (env) where ready_at is not null;
create index suspended_ready_by_place on suspended (queue_id, key) where ready_at is not null;

drop index waits_by_watched;
create index waits_by_watched on waits (watched) where over_at is null and watched is not null;

-- Nothing looks for it.
drop index batch_cached_by_run;

-- Dead rows go before they slow anything down: VACUUM starts after a fixed number of them, does not pause, and never takes the table from those
-- who use it to shorten its file.
do $$
declare
  v_table text;
begin
  foreach v_table in array array['queued', 'leases', 'lanes', 'delayed', 'parked', 'suspended', 'error_arrivals'] loop
    execute format('alter table %I set (
      autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
      autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
      autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000)', v_table);
  end loop;
end $$;

-- As before (0004), but that each lane is read by its key.
create or replace function enqueue_runs(
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
      cross join lateral (
        -- The arguments may bring the collation of ids along; with it the index of the lanes would be of no use for their keys.
        select x.id from lanes x where x.queue_id = i.queue_id and x.key = i.key collate "default" and x.route = i.route
         limit 1 for key share) l
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

-- As before (0004), but that lanes, their queues and delayed runs are read by their keys.
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

-- As before (0017), but that places are counted without the environment, which their queue has already.
create or replace function claim_runs(
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
                         - (select count(*) from leases x where x.queue_id = l.queue_id and x.key = l.key)::int
                         - case when v_owed then (select count(*) from suspended s
                              where s.queue_id = l.queue_id and s.key = l.key and s.ready_at is not null)::int else 0 end)
               end as room
          from unnest(p_routes) as r (route)
          cross join lateral (
            select n.id, n.queue_id, n.key, n.turn from lanes n
             where n.env = p_env and n.route + 0 = r.route and not n.blocked
               and n.turn > v_turn and (not v_wrapped or n.turn <= p_turn)
             order by n.turn limit c_page
          ) l
          join queues q on q.id = l.queue_id
         order by l.turn, l.id limit c_page
      ) p;
    v_found := coalesce(cardinality(v_lanes), 0);

    if v_found > 0 then
      v_share := greatest(1, (v_want + v_found - 1) / v_found);
      -- A lane that has nothing to give is in the head as well, without a row. One run more than a lane may give tells whether this
      -- claim leaves it empty: then nobody has to come by once more to find that out.
      with head as materialized (
        select p.lane_id, p.route, p.turn, p.room, p.row, p.ord, p.run_id, p.row is not null and p.nth > p.mine as is_more,
               -- among those that the lanes of its place may give
               count(*) filter (where p.row is not null and p.nth <= p.mine)
                 over (partition by p.place order by p.turn, p.lane_id, p.ord, p.run_id) as nth
          from (
            select p.lane_id, p.place, p.route, p.turn, p.room, h.row, h.ord, h.run_id, least(p.room, v_share) as mine,
                   row_number() over (partition by p.place, p.turn, p.lane_id order by h.ord, h.run_id) as nth
              from unnest(v_lanes, v_route, v_turns, v_room, v_place) as p (lane_id, route, turn, room, place)
              left join lateral (
                select w.ctid as row, w.ord, w.run_id from queued w
                 where w.lane_id = p.lane_id and (w.expires_at is null or w.expires_at > p_at)
                 order by w.ord, w.run_id
                 limit case when p.room > 0 then least(p.room, v_share) + 1 else 0 end
              ) h on true
          ) p
      ), taken as (
        delete from queued w
         using (select * from head h where h.row is not null and not h.is_more and h.nth <= h.room
                 order by h.turn, h.ord, h.run_id limit v_want) h
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
             v_more or exists (select from head h where h.is_more and h.room > v_share),
             v_full || array(select h.lane_id from head h where h.room = 0),
             v_idle || array(
               select i.lane_id
                 from (select h.lane_id, case when h.row is null then 0 else 1 end as n from head h where h.room > 0
                       union all select x.lane_id, -1 from claimed x) i
                group by i.lane_id having sum(i.n) = 0)
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
     where l.id = any (v_full)
       and (select q.paused or coalesce(q.concurrency_override, q.concurrency_limit)
              <= (select count(*) from leases x where x.queue_id = l.queue_id and x.key = l.key)
              from queues q where q.id = l.queue_id);
  end if;
  if cardinality(v_idle) > 8 then
    select array_agg(s.id) into v_lanes
      from (select l.id from lanes l where l.id = any (v_idle) order by l.id for update skip locked) s;
    delete from lanes l
     where l.id = any (v_lanes) and (select true from queued w where w.lane_id = l.id limit 1) is null;
  end if;

  return query
    select c.run_id, c.fence, c.attempt, c.version_id, v_last, c.task, c.payload, c.payload_type, c.metadata, c.tags, c.is_test,
           c.queue_id, c.concurrency_key, c.max_attempts, c.max_duration, c.machine, c.priority_ms, c.created_at, c.parent_id,
           c.root_id, c.schedule_id, c.event, c.batch_id, c.started_at
      from unnest(v_runs) as c;
end $$;

-- As before (0004), but that each place is looked up by its key.
create or replace function free_places(p_env int[], p_queue int[], p_key text[]) returns void
language sql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
  update lanes l set blocked = false
   where l.id = any (array(
       select x.id from (select distinct * from unnest(p_queue, p_key) as i (queue_id, key)) i
        cross join lateral (
          select y.id from lanes y where y.queue_id = i.queue_id and y.key = i.key collate "default" and y.blocked offset 0) x))
     -- asked once, and first: mostly nothing is blocked
     and exists (select from lanes b where b.blocked and b.env = any (p_env))
$$;

-- As before (0010), but that each lane is read by its key.
create or replace function seal_batch(p_env int, p_batch text, p_at timestamptz) returns table (queued boolean, due timestamptz, failed boolean)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_queue int[];
  v_key text[];
  v_route int[];
  v_delayed text[];
  v_due timestamptz[];
  v_parked text[];
  v_failed int;
  v_lanes int;
begin
  update batches b set sealed_at = p_at, received = b.run_count where b.env = p_env and b.id = p_batch;
  select array_agg(x.queue_id) filter (where x.place = 'queued'), array_agg(x.key) filter (where x.place = 'queued'),
         array_agg(x.route) filter (where x.place = 'queued'), array_agg(x.id) filter (where x.place = 'delayed'),
         array_agg(x.due) filter (where x.place = 'delayed'), array_agg(x.id) filter (where x.place = 'parked'),
         count(*) filter (where x.place = 'failed')
    into v_queue, v_key, v_route, v_delayed, v_due, v_parked, v_failed
    from (
      -- of those that are queued, one of each lane
      select distinct on (y.place, y.queue_id, y.key, y.route, case when y.place <> 'queued' then y.id end) y.*
        from (
          select r.id, r.queue_id, coalesce(r.concurrency_key, '') as key, coalesce(r.version_id, 0) as route, r.delayed_until as due,
                 case when r.error is not null then 'failed'
                      when r.delayed_until > p_at then 'delayed'
                      when r.version_id is null and t.id is null then 'parked'
                      else 'queued' end as place
            from runs r
            left join current_versions c on c.env = r.env
            left join tasks t on t.version_id = c.version_id and t.id = r.task
           where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~' and r.status is null
        ) y
    ) x;

  if v_queue is not null then
    -- held, so that no claim drops them, and made where they are missing, in one order for everybody
    loop
      select count(*) into v_lanes from (
        select from unnest(v_queue, v_key, v_route) as i (queue_id, key, route)
          cross join lateral (
            select from lanes x where x.queue_id = i.queue_id and x.key = i.key collate "default" and x.route = i.route
             limit 1 for key share) l) l;
      exit when v_lanes = cardinality(v_queue);
      insert into lanes (env, queue_id, key, route)
      select p_env, i.queue_id, i.key, i.route from unnest(v_queue, v_key, v_route) as i (queue_id, key, route) order by 2, 3, 4
      on conflict do nothing;
    end loop;
    insert into queued (lane_id, ord, run_id, env, expires_at)
    select l.id, r.ord, r.id, r.env, case when r.ttl > 0 then p_at + make_interval(secs => r.ttl) end
      from runs r
      cross join lateral (
        select x.id from lanes x
         where x.queue_id = r.queue_id and x.key = coalesce(r.concurrency_key, '') and x.route = coalesce(r.version_id, 0)
         limit 1) l
     where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~' and r.status is null
       and r.error is null and (v_delayed is null or r.id <> all (v_delayed)) and (v_parked is null or r.id <> all (v_parked));
  end if;
  if v_delayed is not null then
    insert into delayed (env, run_id, due) select p_env, d.id, d.due from unnest(v_delayed, v_due) as d (id, due);
  end if;
  if v_parked is not null then
    insert into parked (env, task, run_id, expires_at)
    select p_env, r.task, r.id, case when r.ttl > 0 then p_at + make_interval(secs => r.ttl) end
      from unnest(v_parked) as i (id)
      cross join lateral (select x.task, x.id, x.ttl from runs x where x.env = p_env and x.id = i.id limit 1) r;
  end if;
  return query select v_queue is not null, (select min(d) from unnest(v_due) as d), v_failed > 0;
end $$;

-- As before (0004), but that every table is read by its key.
create or replace function cancel_runs(p_env int, p_run text, p_at timestamptz, p_unasked boolean default false)
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
              or (select true from leases l where l.env = p_env and l.run_id = tree.id and l.cancel_requested limit 1) is null
             and (select true from suspended s where s.env = p_env and s.run_id = tree.id and s.cancel_requested limit 1) is null)
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
         where s.env = p_env and s.run_id = v_run.id and num_nulls(s.runner_id) = 0
        returning s.runner_id, s.fence into runner_id, fence;
        if found then
          return next;
          exit;
        end if;
        delete from queued q
         where q.run_id = v_run.id and q.ord = v_run.ord
           and q.lane_id = any (array(
             select l.id from lanes l where l.queue_id = v_run.queue_id and l.key = coalesce(v_run.concurrency_key, '')));
        if not found then delete from delayed d where d.env = p_env and d.run_id = v_run.id; end if;
        if not found then delete from parked p where p.env = p_env and p.task = v_run.task and p.run_id = v_run.id; end if;
        if not found then
          delete from suspended s where s.env = p_env and s.run_id = v_run.id and num_nulls(s.runner_id) = 1;
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

-- As before (0011), but that each suspended run is read by its key.
create or replace function wake_waiters(p_at timestamptz, p_env int[], p_run text[], p_attempt int[]) returns void
language plpgsql as $$
declare
  v_place tid[];
  v_env int[];
  v_run text[];
begin
  perform from (select distinct * from unnest(p_env, p_run, p_attempt) as i (env, run_id, attempt) order by env, run_id) i
    cross join lateral (
      select from suspended x where x.env = i.env and x.run_id = i.run_id and x.attempt = i.attempt limit 1 for update) s;
  v_place := array(
    select s.place from unnest(p_env, p_run, p_attempt) as i (env, run_id, attempt)
     cross join lateral (
       select x.ctid as place from suspended x where x.env = i.env and x.run_id = i.run_id and x.attempt = i.attempt limit 1) s);
  update suspended s set ready_at = p_at where s.ctid = any (v_place) and s.ready_at is null and num_nulls(s.runner_id) = 0;
  with gone as (
    delete from suspended s where s.ctid = any (v_place) and num_nulls(s.runner_id) = 1 returning s.env, s.run_id
  )
  select array_agg(g.env), array_agg(g.run_id) into v_env, v_run from gone g;
  if v_run is not null then perform requeue_runs(v_env, v_run); end if;
end $$;

-- As before (0011), but that waits are found by what they watch alone.
create or replace function end_waits(p_at timestamptz, p_env int, p_watched text) returns void
language plpgsql as $$
declare
  w waits%rowtype;
  v_next text;
  v_env int[] := '{}';
  v_run text[] := '{}';
  v_attempt int[] := '{}';
begin
  for w in
    select * from waits x where x.env + 0 = p_env and x.watched = p_watched and x.over_at is null
     order by x.run_id, x.attempt, x.key for update
  loop
    if w.kind = 'BATCH' then
      v_next := watch_batch(p_env, w.target, w.watched);
      if v_next is not null then
        update waits x set watched = v_next
         where x.env = w.env and x.run_id = w.run_id and x.attempt = w.attempt and x.key = w.key;
        continue;
      end if;
    end if;
    update waits x set over_at = p_at
     where x.env = w.env and x.run_id = w.run_id and x.attempt = w.attempt and x.key = w.key;
    v_env := v_env || w.env;
    v_run := v_run || w.run_id;
    v_attempt := v_attempt || w.attempt;
  end loop;
  if cardinality(v_run) > 0 then perform wake_waiters(p_at, v_env, v_run, v_attempt); end if;
end $$;

-- As before (0011), but that waits are found by what they watch alone.
create or replace function end_message_waits(p_at timestamptz, p_env int[], p_channel text[], p_last bigint[]) returns table (env int)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_attempt int[];
begin
  with over as materialized (
    select w.place
      -- in one order for everybody
      from (select * from unnest(p_env, p_channel, p_last) as i (env, channel, last) order by env, channel) i
      cross join lateral (
        select x.ctid as place from waits x
         where x.env + 0 = i.env and x.watched = i.channel and x.over_at is null and x.beyond < i.last
         order by x.run_id, x.attempt, x.key for update) w
  ), done as (
    update waits w set over_at = p_at where w.ctid = any (array(select place from over)) returning w.env, w.run_id, w.attempt
  )
  select array_agg(d.env), array_agg(d.run_id), array_agg(d.attempt) into v_env, v_run, v_attempt from done d;
  if v_run is null then return; end if;
  perform wake_waiters(p_at, v_env, v_run, v_attempt);
  return query select distinct e from unnest(v_env) as e;
end $$;

-- As before (0011), but that places are counted without the environment.
create or replace function owed_places(p_env int) returns int
language plpgsql stable as $$
begin
  return (
    select coalesce(sum(least(s.wanted, coalesce(q.concurrency_override, q.concurrency_limit)
             - (select count(*) from leases x where x.queue_id = s.queue_id and x.key = s.key))), 0)
      from (select y.queue_id, y.key, count(*) as wanted from suspended y
             where y.env = p_env and y.ready_at is not null group by y.queue_id, y.key) s
      join queues q on q.id = s.queue_id and not q.paused)::int;
end $$;

-- As before (0011), but that each suspended run is read by its key.
create or replace function resume_runs(p_env int, p_at timestamptz, p_most int)
returns table (run_id text, fence bigint, runner_id text, spell bigint, keys text[])
language plpgsql
as $$
#variable_conflict use_column
declare
  v_limit int;
  v_room int := p_most;
begin
  if not exists (select from suspended s where s.env = p_env and s.ready_at is not null) then return; end if;
  perform from runners r
   where r.id in (select s.runner_id from suspended s where s.env = p_env and s.ready_at is not null)
   order by r.id for key share;
  perform claim_lock(p_env);
  select e.concurrency_limit into v_limit from environments e where e.id = p_env and not e.paused;
  if not found then return; end if;
  if v_limit is not null then
    v_room := least(v_room, v_limit - (select count(*) from leases l where l.env = p_env)::int);
  end if;
  return query
    with ready as materialized (
      select s.run_id, s.queue_id, s.key, s.ready_at,
             row_number() over (partition by s.queue_id, s.key order by s.ready_at, s.run_id) as nth
        from suspended s cross join lateral (select from runners x where x.id = s.runner_id limit 1) r
       where s.env = p_env and s.ready_at is not null
    ), fits as materialized (
      select y.run_id
        from ready y join queues q on q.id = y.queue_id
       where not q.paused and (coalesce(q.concurrency_override, q.concurrency_limit) is null
          or y.nth <= coalesce(q.concurrency_override, q.concurrency_limit)
               - (select count(*) from leases x where x.queue_id = y.queue_id and x.key = y.key))
       order by y.ready_at, y.run_id limit greatest(0, v_room)
    ), held as materialized (
      select s.place
        from (select f.run_id from fits f order by f.run_id) f
        cross join lateral (
          select x.ctid as place from suspended x where x.env = p_env and x.run_id = f.run_id and num_nulls(x.runner_id) = 0
           limit 1 for update) s
    ), gone as (
      delete from suspended s where s.ctid = any (array(select h.place from held h)) returning s.*
    ), leased as (
      insert into leases (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, leased_at, cancel_requested)
      select g.env, g.run_id, g.fence, g.runner_id, g.queue_id, g.key, g.version_id, g.attempt,
             -- as if it had run without a pause: what it waited does not count
             p_at - make_interval(secs => g.active_ms / 1000.0), g.cancel_requested
        from gone g
    ), told as (
      update waits w set told = true
       where w.ctid = any (array(
         select x.place from gone g
          cross join lateral (
            select y.ctid as place from waits y
             where y.env = g.env and y.run_id = g.run_id and y.attempt = g.attempt and y.over_at is not null and not y.told offset 0) x))
      returning w.run_id, w.key
    )
    select g.run_id, g.fence, g.runner_id, g.spell,
           (select coalesce(array_agg(t.key), '{}') from told t where t.run_id = g.run_id)
      from gone g;
end $$;

-- As before (0019), but that each attempt is read by its key.
create or replace function return_leases(p_at timestamptz, p_env int[], p_run text[], p_fence bigint[]) returns boolean
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
  perform from (select * from unnest(p_env, p_run, p_fence) as i (env, run_id, fence) order by run_id) i
    cross join lateral (
      select from suspended x where x.env = i.env and x.run_id = i.run_id and x.fence = i.fence limit 1 for update) s;
  with gone as (
    delete from suspended s
     where num_nulls(s.runner_id) = 0
       and s.ctid = any (array(
         select x.place from unnest(p_env, p_run, p_fence) as i (env, run_id, fence)
          cross join lateral (
            select y.ctid as place from suspended y where y.env = i.env and y.run_id = i.run_id and y.fence = i.fence limit 1) x))
    returning s.*
  )
  insert into leases (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, leased_at, cancel_requested)
  select g.env, g.run_id, g.fence, g.runner_id, g.queue_id, g.key, g.version_id, g.attempt,
         p_at - make_interval(secs => g.active_ms / 1000.0), g.cancel_requested
    from gone g;
  if found then return true; end if;
  return exists (select from unnest(p_env, p_run, p_fence) as i (env, run_id, fence)
                  cross join lateral (
                    select from leases x where x.env = i.env and x.run_id = i.run_id and x.fence = i.fence limit 1) x);
end $$;

-- As before (0011), but that each suspended run is read by its key.
create or replace function detach_runs(p_runner text, p_held bigint[], p_held_since timestamptz, p_only bigint[] default null)
returns table (env int, run_id text, verdict text, fence bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_verdict text[];
  v_fence bigint[];
begin
  select array_agg(x.env), array_agg(x.run_id), array_agg(x.fence),
         array_agg(case when x.cancel_requested then 'canceled' when x.ready_at is not null then 'queued' else 'waits' end)
    into v_env, v_run, v_fence, v_verdict
    from (select * from suspended s
           where s.runner_id = p_runner and (p_held is null or not s.fence = any (p_held) and s.since <= p_held_since)
             and (p_only is null or s.fence = any (p_only))
           order by s.run_id for update) x;
  if v_run is null then return; end if;
  -- a new fence: whatever its old holder may still send is refused
  update suspended s set runner_id = null, fence = nextval('lease_fences')
   where s.ctid = any (array(
     select x.place from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict)
      cross join lateral (select y.ctid as place from suspended y where y.env = i.env and y.run_id = i.run_id limit 1) x
      where i.verdict = 'waits'));
  delete from suspended s
   where s.ctid = any (array(
     select x.place from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict)
      cross join lateral (select y.ctid as place from suspended y where y.env = i.env and y.run_id = i.run_id limit 1) x
      where i.verdict = 'queued'));
  perform requeue_runs(array_agg(i.env), array_agg(i.run_id))
     from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict) where i.verdict = 'queued' having count(*) > 0;
  return query select * from unnest(v_env, v_run, v_verdict, v_fence) as i (env, run_id, verdict, fence) where i.verdict <> 'waits';
end $$;

-- The same for all functions that read such tables, whoever calls them.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid::regprocedure from pg_proc p
     where p.pronamespace = current_schema()::regnamespace
       and p.proname in ('enqueue_runs', 'hold_parents', 'trigger_runs', 'claim_runs', 'free_places', 'requeue_runs', 'settle_runs', 'take_back',
         'promote_due', 'unpark_runs', 'expire_due', 'cancel_runs', 'seal_batch', 'is_batch_over', 'watch_batch', 'wake_waiters', 'end_waits',
         'end_message_waits', 'begin_waits', 'resume_runs', 'owed_places', 'return_leases', 'detach_runs', 'end_due_waits')
  loop
    execute format('alter function %s set plan_cache_mode = force_generic_plan', v_function);
    execute format('alter function %s set enable_hashjoin = off', v_function);
    execute format('alter function %s set enable_mergejoin = off', v_function);
    execute format('alter function %s set enable_seqscan = off', v_function);
    execute format('alter function %s set enable_bitmapscan = off', v_function);
  end loop;
end $$;
