-- Takes waiting runs of an environment for a runner, and leases them to it.
-- Claims scan the lanes as a ring from `p_turn` on, one page at a time, so that every concurrency key gets its turn. Each lane gives its share
-- within the limits of environment, queue and key. Where a queue has a limit of rate, `rate_rooms` says how many runs may start, `count_starts`
-- notes those that do, and `hold_lanes` takes lanes out of the ring until their time.
-- Suspended runs that are ready come first: their slots are not given away.
-- `p_current` is the version on which runs without a pinned version start; null if the runner cannot execute it. While there is a canary, such
-- runs are divided by `canary_share`; a runner that has only one of the two versions takes only its runs.
-- Returns the runs with their fences, and the `turn` to continue from.
--
-- Locks: the runner (key share), the claim lock, queued rows that it deletes, queue_starts where a limit of rate applies, then by id the lanes
--        that it blocks (no key update) and the empty lanes that it deletes (skip locked).
-- Callers: runs/dispatch/claim.ts.
create or replace function claim_runs(
  p_env int, p_runner text, p_pinned_versions int[], p_current int, p_want int, p_turn int, p_at timestamptz
) returns table (
  run_id text, fence bigint, attempt int, version_id int, turn int, task text, payload text, payload_type text, metadata text,
  tags text[], is_test boolean, queue_id int, concurrency_key text, max_attempts int, max_duration int, machine text,
  priority_ms int, created_at timestamptz, parent_id text, root_id text, schedule_id text, event text, batch_id text,
  started_at timestamptz, sort_key bigint, traceparent text, replay_of text, idempotency_key text, idempotency_key_options jsonb,
  region text
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  -- as many as one turn can use, within bounds: a page costs what it reads
  c_page constant int := least(256, greatest(16, p_want));
  v_want int := p_want;
  v_runner_no int;
  v_limit int;
  v_turn int := p_turn;
  v_last int := p_turn;
  v_wrapped boolean := false;
  v_lanes bigint[];
  v_pinned_version int[];
  v_turns int[];
  v_room int[];
  v_queue_key bigint[];
  -- how many runs the lanes of one `queue_key` may give together
  v_cap int[];
  -- some queue of the page has a limit of rate; its lanes without a start left; the time that counts for this claim
  v_rated boolean;
  v_late bigint[] := '{}';
  v_now timestamptz;
  v_deferred boolean;
  v_taken claimed_run[];
  v_runs claimed_run[] := '{}';
  v_idle bigint[] := '{}';
  v_full bigint[] := '{}';
  v_found int;
  v_share int;
  v_more boolean := false;
  -- suspended runs that are ready (runs/waits): their slots are not for runs that have not started
  v_owed boolean;
  v_canary int;
  v_percent int;
  -- of the runs without a pinned version, only those of the canary, or only the others; null for all
  v_only_canary boolean;
begin
  select r.no into v_runner_no from runners r where r.id = p_runner for key share;
  if not found then return; end if;
  perform claim_lock(p_env);
  select e.concurrency_limit, c.canary_id, c.canary_percent into v_limit, v_canary, v_percent
    from environments e left join current_versions c on c.env = e.id and c.canary_id is not null
   where e.id = p_env and not e.paused;
  if not found then return; end if;
  if p_current is null and (v_canary = any (p_pinned_versions)) is not true then
    p_pinned_versions := array_remove(p_pinned_versions, 0);
  elsif p_current is null then
    v_only_canary := true;
  elsif v_canary is not null and v_canary <> all (p_pinned_versions) then
    v_only_canary := false;
  end if;
  v_owed := exists (select from suspended s where s.env = p_env and s.ready_at is not null);
  if v_limit is not null then
    v_want := least(v_want, v_limit - (select count(*) from leases l where l.env = p_env)::int
                            - case when v_owed then owed_slots(p_env) else 0 end);
  end if;

  while v_want > 0 loop
    -- one page of the ring, and how much room there is for the queue and key of each lane
    select array_agg(p.id), array_agg(p.pinned_version), array_agg(p.turn), array_agg(p.room), array_agg(p.queue_key),
           bool_or(p.rated)
      into v_lanes, v_pinned_version, v_turns, v_room, v_queue_key, v_rated
      from (
        select l.id, r.pinned_version, l.turn, q.rate_burst is not null as rated,
               -- Lanes pinned to several versions may share a queue and key, and then its room. If two pairs have the same hash,
               -- they share the room of this page.
               hashtextextended(l.key, l.queue_id) as queue_key,
               case when q.paused then 0
                    when coalesce(q.concurrency_override, q.concurrency_limit) is null then v_want
                    else greatest(0, coalesce(q.concurrency_override, q.concurrency_limit)
                         - (select count(*) from leases x where x.queue_id = l.queue_id and x.key = l.key)::int
                         - case when v_owed then (select count(*) from suspended s
                              where s.queue_id = l.queue_id and s.key = l.key and s.ready_at is not null)::int else 0 end)
               end as room
          from unnest(p_pinned_versions) as r (pinned_version)
          cross join lateral (
            select n.id, n.queue_id, n.key, n.turn from lanes n
             where n.env = p_env and n.pinned_version + 0 = r.pinned_version and not n.blocked
               and n.turn > v_turn and (not v_wrapped or n.turn <= p_turn)
             order by n.turn limit c_page
          ) l
          join queues q on q.id = l.queue_id
         order by l.turn, l.id limit c_page
      ) p;
    v_found := coalesce(cardinality(v_lanes), 0);

    if v_found > 0 then
      v_turn := v_turns[v_found];
      v_cap := v_room;
      if v_rated then
        -- one time for the whole claim: it would go on for as long as starts become possible meanwhile
        v_now := coalesce(v_now, rate_now());
        select x.lanes, x.pinned_version, x.turns, x.room, x.queue_key, x.cap, v_late || x.late, x.deferred
          into v_lanes, v_pinned_version, v_turns, v_room, v_queue_key, v_cap, v_late, v_deferred
          from rate_rooms(v_now, v_lanes, v_pinned_version, v_turns, v_room, v_queue_key) x;
      end if;
      v_share := greatest(1, (v_want + v_found - 1) / v_found);
      -- A lane that has nothing to give is in the head as well, without a row. One run more than a lane may give tells whether this
      -- claim leaves it empty: then nobody has to come by once more to find that out.
      with head as materialized (
        select p.lane_id, p.pinned_version, p.turn, p.room, p.cap, p.row, p.sort_key, p.run_id, p.row is not null and p.nth > p.mine as is_more,
               -- among those that the lanes of its queue and key may give
               count(*) filter (where p.row is not null and p.nth <= p.mine)
                 over (partition by p.queue_key order by p.turn, p.lane_id, p.sort_key, p.run_id) as nth
          from (
            select p.lane_id, p.queue_key, p.pinned_version, p.turn, p.room, p.cap, h.row, h.sort_key, h.run_id, least(p.room, v_share) as mine,
                   row_number() over (partition by p.queue_key, p.turn, p.lane_id order by h.sort_key, h.run_id) as nth
              from unnest(v_lanes, v_pinned_version, v_turns, v_room, v_queue_key, v_cap)
                     as p (lane_id, pinned_version, turn, room, queue_key, cap)
              left join lateral (
                select w.ctid as row, w.sort_key, w.run_id from queued w
                 where w.lane_id = p.lane_id and (w.expires_at is null or w.expires_at > p_at)
                   and (v_only_canary is null or p.pinned_version <> 0 or v_only_canary = (
                     canary_share(w.run_id) < v_percent
                     and (select true from runs r join tasks x on x.version_id = v_canary and x.id = r.task
                           where r.env = p_env and r.id = w.run_id limit 1) is not null))
                 order by w.sort_key, w.run_id
                 limit case when p.room > 0 then least(p.room, v_share) + 1 else 0 end
              ) h on true
          ) p
      ), taken as (
        delete from queued w
         using (select * from head h where h.row is not null and not h.is_more and h.nth <= h.cap
                 order by h.turn, h.sort_key, h.run_id limit v_want) h
         where w.ctid = h.row
        returning w.lane_id, w.run_id, w.sort_key, h.pinned_version, h.turn
      ), claimed as materialized (
        select t.lane_id, t.turn, t.run_id, nextval('lease_fences') as fence, x.attempt + 1 as attempt,
               case when t.pinned_version <> 0 then t.pinned_version
                    when v_canary is not null and canary_share(t.run_id) < v_percent
                     and (select true from tasks c where c.version_id = v_canary and c.id = x.task limit 1) is not null then v_canary
                    else p_current end as version_id, x.task, x.payload, x.payload_type,
               x.metadata, x.tags, x.is_test, x.queue_id, x.concurrency_key, x.max_attempts, x.max_duration, x.machine,
               x.priority_ms, x.created_at, x.parent_id, x.root_id, x.schedule_id, x.event, x.batch_id, x.started_at,
               t.sort_key, x.traceparent, x.replay_of, x.idempotency_key, x.idempotency_key_options, x.region
          from taken t
          cross join lateral (select r.* from runs r where r.env = p_env and r.id = t.run_id limit 1) x
      ), leased as (
        insert into leases (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, leased_at, runner_no)
        select p_env, c.run_id, c.fence, p_runner, c.queue_id, coalesce(c.concurrency_key, ''), c.version_id, c.attempt, p_at,
               v_runner_no
          from claimed c
      )
      select array_agg(row (c.run_id, c.fence, c.attempt, c.version_id, c.task, c.payload, c.payload_type, c.metadata, c.tags,
                            c.is_test, c.queue_id, c.concurrency_key, c.max_attempts, c.max_duration, c.machine, c.priority_ms,
                            c.created_at, c.parent_id, c.root_id, c.schedule_id, c.event, c.batch_id, c.started_at, c.sort_key,
                            c.traceparent, c.replay_of, c.idempotency_key, c.idempotency_key_options, c.region)::claimed_run),
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
        -- a limit has no start left, or a lane was left out: once around more, to hold the lanes that have runs, or to take from it
        if v_rated then v_more := count_starts(p_env, v_now, v_taken) or v_deferred or v_more; end if;
        v_runs := v_runs || v_taken;
        v_want := v_want - cardinality(v_taken);
      end if;
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
        v_late := '{}';
      end if;
    end if;
  end loop;

  -- What cannot give leaves the ring: full lanes are blocked, and idle ones dropped once there are more than a handful (a few
  -- are kept, because a lane that empties often fills again at once). Each is locked and looked at again in a new snapshot:
  -- a release or an enqueue that committed meanwhile would otherwise be missed.
  if cardinality(v_late) > 0 then perform hold_lanes(v_late); end if;
  if cardinality(v_full) > 0 then
    perform from lanes l where l.id = any (v_full) order by l.id for no key update;
    -- `held_at` may be left where an older server has unblocked the lane
    update lanes l set blocked = true, held_at = null
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
           c.root_id, c.schedule_id, c.event, c.batch_id, c.started_at, c.sort_key, c.traceparent, c.replay_of,
           c.idempotency_key, c.idempotency_key_options, c.region
      from unnest(v_runs) as c;
end $$;
