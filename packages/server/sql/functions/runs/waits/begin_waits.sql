-- Registers waits of live attempts, or checks existing ones again, and suspends the attempts that cannot continue. Returns one row for each
-- attempt: `suspended` with its suspension; `running` with the keys of its ended waits; `stale` if the fence is not live. `limited`: a slot
-- that a run may be waiting for became free, or a ready run needs one.
--
-- Locks: claim locks (lock_limited); channels by id (share); the awaited rows, in the order of the arguments: runs (watch_run), waitpoints
--        (share); then by run: leases, suspended, waits, runs, run_facets, lanes.
-- Callers: runs/waits/begin.ts.
create or replace function begin_waits(
  p_at timestamptz, p_env int[], p_run text[], p_fence bigint[], p_key text[], p_kind text[], p_target text[], p_due timestamptz[],
  p_beyond bigint[]
) returns table (env int, fence bigint, state text, suspension bigint, keys text[], limited boolean)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_attempt int;
  v_watched text;
  v_due timestamptz;
  v_over boolean;
  v_limited boolean;
  w waits%rowtype;
  a record;
  l leases%rowtype;
  v_ending boolean;
  v_channel uuid[];
begin
  select lock_limited(array_agg(x.env), array_agg(x.queue_id)) into v_limited
    from unnest(p_env, p_run) as i (env, run_id)
    cross join lateral (select y.env, y.queue_id from leases y where y.env = i.env and y.run_id = i.run_id limit 1) x;

  -- The target of a wait is locked first and the waiting attempt last, the same order as in every transaction that ends a target. Channels are
  -- locked in the order that appends use: an append or close in progress is awaited, and a later one sees the rows of this transaction.
  if 'MESSAGE' = any (p_kind) then
    select array_agg(case when i.kind = 'MESSAGE' then awaited_channel(i.env, i.run, i.target) end order by i.position) into v_channel
      from unnest(p_env, p_run, p_kind, p_target) with ordinality as i (env, run, kind, target, position);
    perform from channels c where c.id = any (v_channel) order by c.id for share;
  end if;
  for i in 1 .. cardinality(p_run) loop
    select x.attempt into v_attempt
      from (select y.attempt from leases y where y.env = p_env[i] and y.run_id = p_run[i] and y.fence = p_fence[i]
            union all
            select y.attempt from suspended y where y.env = p_env[i] and y.run_id = p_run[i] and y.fence = p_fence[i]) x limit 1;
    continue when not found;
    select * into w from waits x where x.env = p_env[i] and x.run_id = p_run[i] and x.attempt = v_attempt and x.key = p_key[i];
    if w.over_at is null then
      v_watched := null;
      v_due := null;
      if p_kind[i] = 'RUN' then
        v_watched := p_target[i];
        v_over := not watch_run(p_env[i], p_target[i]);
      elsif p_kind[i] = 'BATCH' then
        v_watched := watch_batch(p_env[i], p_target[i]);
        v_over := v_watched is null;
      elsif p_kind[i] = 'TOKEN' then
        v_watched := p_target[i];
        perform from waitpoints t where t.env = p_env[i] and t.id = p_target[i] and t.status = 'WAITING' for share;
        v_over := not found;
      elsif p_kind[i] = 'MESSAGE' then
        v_watched := v_channel[i]::text;
        -- Only while the channel accepts messages.
        select coalesce(c.closed_at is not null or c.next_seq > greatest(c.start_seq, p_beyond[i] + 1), false),
               least(coalesce(w.due, p_due[i]), c.expires_at)
          into v_over, v_due
          from (select) x left join channels c on c.id = v_channel[i];
        v_over := v_over or coalesce(v_due <= p_at, false);
        -- Drops waits for messages that the attempt has already received.
        delete from waits x
         where x.env = p_env[i] and x.run_id = p_run[i] and x.attempt = v_attempt and x.watched = v_watched
           and x.beyond < p_beyond[i] and x.reported;
      else
        v_due := coalesce(w.due, p_due[i]);
        v_over := v_due <= p_at;
      end if;
      insert into waits as x (env, run_id, attempt, key, kind, target, watched, beyond, due, created_at, over_at)
      values (p_env[i], p_run[i], v_attempt, p_key[i], p_kind[i], p_target[i], v_watched, p_beyond[i], v_due, p_at,
              case when v_over then p_at end)
      on conflict (env, run_id, attempt, key) do update
        set watched = excluded.watched, due = excluded.due, over_at = coalesce(x.over_at, excluded.over_at);
    end if;
  end loop;

  for a in
    select i.env, i.run_id, i.fence, array_agg(i.key) as requested
      from unnest(p_env, p_run, p_fence, p_key) as i (env, run_id, fence, key)
     group by i.env, i.run_id, i.fence order by i.env, i.run_id
  loop
    env := a.env;
    fence := a.fence;
    suspension := null;
    limited := false;
    state := 'stale';
    keys := '{}';
    -- The attempt may move between the two tables during the wait for a lock, in either direction.
    for v_try in 1 .. 3 loop
      if v_try = 2 then
        select x.suspension, x.attempt into suspension, v_attempt from suspended x
         where x.env = a.env and x.run_id = a.run_id and x.fence = a.fence for update;
        if found then state := 'suspended'; end if;
      else
        select * into l from leases x where x.env = a.env and x.run_id = a.run_id and x.fence = a.fence for update;
        if found then state := 'running'; end if;
      end if;
      exit when state <> 'stale';
    end loop;
    if state <> 'running' then
      if state = 'suspended' and exists (
        select from waits x where x.env = a.env and x.run_id = a.run_id and x.attempt = v_attempt
           and x.over_at is not null and (not x.reported or x.key = any (a.requested))) then
        update waits x set reported = false
         where x.env = a.env and x.run_id = a.run_id and x.attempt = v_attempt and x.key = any (a.requested)
           and x.over_at is not null and x.reported;
        limited := true;
        update suspended x set ready_at = coalesce(x.ready_at, p_at) where x.env = a.env and x.run_id = a.run_id;
      end if;
      return next;
      continue;
    end if;

    -- A transaction that is ending another of the attempt's waits at the same time looks for a suspended attempt before it is visible. The
    -- attempt is therefore created ready, and checks again. Waits that no transaction is ending are locked until the suspension is visible,
    -- like those checked above.
    select count(*) > (select count(*) from (
             select from waits h where h.env = a.env and h.run_id = a.run_id and h.attempt = l.attempt and h.key <> all (a.requested)
                and h.over_at is null for update skip locked) locked)
      into v_ending
      from waits x where x.env = a.env and x.run_id = a.run_id and x.attempt = l.attempt and x.key <> all (a.requested) and x.over_at is null;
    with reported as (
      update waits x set reported = true
       where x.env = a.env and x.run_id = a.run_id and x.attempt = l.attempt and x.over_at is not null
         and (not x.reported or x.key = any (a.requested))
      returning x.key
    )
    select coalesce(array_agg(t.key), '{}') into keys from reported t;
    if cardinality(keys) > 0 then
      return next;
      continue;
    end if;

    state := 'suspended';
    limited := v_limited or v_ending;
    delete from leases x where x.env = a.env and x.run_id = a.run_id;
    insert into suspended as s (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, active_ms, since, cancel_requested,
                                ready_at, runner_no)
    values (l.env, l.run_id, l.fence, l.runner_id, l.queue_id, l.key, l.version_id, l.attempt,
            greatest(0, extract(epoch from p_at - l.leased_at) * 1000)::bigint, p_at, l.cancel_requested,
            case when v_ending then p_at end, l.runner_no)
    returning s.suspension into suspension;
    -- From this point the run is bound to its version, as it is when an attempt ends.
    update runs r set started_at = coalesce(r.started_at, l.leased_at), version_id = l.version_id, updated_at = p_at,
                      last_started_at = coalesce(r.last_started_at, l.leased_at)
     where r.env = a.env and r.id = a.run_id;
    perform record_facets(array[a.env], array[facet_of('version', l.version_id::text)], array[a.run_id]);
    if v_limited then perform free_slots(array[l.env], array[l.queue_id], array[l.key]); end if;
    return next;
  end loop;
end $$;
