-- Takes waiting runs of an environment for a runner, and leases them to it.
-- Claims scan the lanes as a ring from `p_cursor` on, one page at a time, so that every concurrency key gets its turn. In its turn a lane gives
-- as many runs as its weight, or a multiple if the runner has room for more, within the limits of environment, queue and key. Where a turn
-- is longer than the claim, the next one goes on in it. A revolution of claims that take all they can serves the lanes that were there when it
-- began: lanes that come meanwhile wait for the next one, so that no flow of new keys can keep the claims from a lane.
-- Where a queue has a limit of rate, a lane gives no more than may start, `count_starts` notes those that do, and `hold_lanes` takes lanes
-- out of the ring until their time. Lanes of a shared limit are in a ring of its own, which is scanned while the limit has room;
-- `shared_rooms` divides it.
-- Suspended runs that are ready come first: their slots are not given away.
-- `p_current` is the version on which runs without a pinned version start; null if the runner cannot execute it. While there is a canary, such
-- runs are divided by `canary_share`; a runner that has only one of the two versions takes only its runs.
-- Returns the runs with their fences, and the cursor to continue from.
--
-- Locks: the runner (key share), the claim lock, queued rows that it deletes, queue_starts where a limit of rate applies, then by id the lanes
--        that it blocks or moves to another ring (no key update) and the empty lanes that it deletes (skip locked).
-- Callers: runs/dispatch/claim.ts.
create or replace function claim_runs(
  p_env int, p_runner text, p_pinned_versions int[], p_current int, p_want int, p_cursor ring_cursor, p_at timestamptz
) returns table (
  run_id text, fence bigint, attempt int, version_id int, next_cursor text, task text, payload text, payload_type text, metadata text,
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
  -- more than a page has
  c_lanes constant int := 1000;
  c_newest constant bigint := 9223372036854775807;
  -- as many lanes are held by one claim: no other claim of the environment goes on meanwhile
  c_held constant int := 5000;
  v_want int := p_want;
  v_runner_no int;
  v_limit int;
  v_cursor text;
  v_start int := p_cursor.turn;
  v_credit int := p_cursor.credit;
  -- The page begins behind this turn. Up to the end of the ring only lanes that are not newer than this, then from its beginning the others.
  v_turn int := v_start;
  v_newest bigint := coalesce(p_cursor.newest, c_newest);
  v_wrapped boolean := false;
  -- the last lane that gave: its position, and what it may still give in its turn
  v_last int := v_start;
  v_left int := 0;
  -- that lane was in the next revolution
  v_is_over boolean := false;
  v_page ring_lane[] := '{}';
  v_part ring_lane[];
  v_lane ring_lane;
  v_paid int;
  v_last_pos bigint;
  v_gave bigint[];
  -- as the page says: some queue has a limit of rate, and limits of concurrency beside it; some lane a shared limit, another weight than 1, or
  -- is in the wrong ring
  v_rated boolean := false;
  v_crowded boolean := false;
  v_shared boolean := false;
  v_weighted boolean := false;
  v_strays bigint[];
  v_stray bigint[];
  -- the shared limits of the environment, and the rings to scan
  v_limits int[];
  v_rings int[] := '{0}';
  -- lanes without a start left
  v_late bigint[] := '{}';
  -- so many of them that this claim ends before it was once around
  v_is_cut boolean := false;
  -- for limits of rate, one time for the whole claim: it would go on for as long as starts become possible meanwhile
  v_now timestamptz;
  -- lanes were left out that share a limit with others of the page
  v_deferred boolean := false;
  v_is_second boolean;
  v_taken claimed_run[];
  v_runs claimed_run[] := '{}';
  v_idle bigint[] := '{}';
  v_full bigint[] := '{}';
  v_found int;
  -- runs in a turn of all lanes of the page; turns that each of them has in full; those that it may have
  v_turn_of_all int;
  v_share int;
  v_turns int;
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
  select e.concurrency_limit, c.canary_id, c.canary_percent,
         (select array_agg(s.id) from shared_limits s where s.env = e.id)
    into v_limit, v_canary, v_percent, v_limits
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

  if v_limits is not null then v_rings := open_rings(v_limits, v_owed); end if;
  v_now := rate_now();

  while v_want > 0 loop
    -- One page of the ring, and how much room there is for the queue and key of each lane. Lanes of a limit of rate have as many runs to give as
    -- may start now (`starts`); if it is that of the whole queue, they have those together. A start in the future counts: the clock was set back.
    select array_agg(row (p.id, p.pinned_version, p.turn, least(p.room, p.starts),
                          case when p.of_queue then hashint4extended(p.queue_id, 1) else p.queue_key end,
                          case when p.of_queue then p.starts else least(p.room, p.starts) end, p.weight, p.shared_limit)::ring_lane)
             filter (where p.starts is null or p.starts > 0),
           v_late || coalesce(array_agg(p.id) filter (where p.starts = 0), '{}'), count(*), max(p.turn),
           coalesce(bool_or(p.starts is not null), false) or v_rated, coalesce(bool_or(p.of_queue and p.is_limited), false) or v_crowded,
           coalesce(bool_or(p.shared_limit <> 0), false) or v_shared, coalesce(bool_or(p.weight <> 1), false) or v_weighted,
           array_agg(p.id) filter (where p.shared_limit <> p.ring)
      into v_part, v_late, v_found, v_turn, v_rated, v_crowded, v_shared, v_weighted, v_stray
      from (
        select l.id, q.id as queue_id, r.pinned_version, l.turn, g.ring, coalesce(q.shared_limit_id, 0) as shared_limit,
               q.rate_burst is not null and not q.rate_by_key as of_queue,
               coalesce(q.concurrency_override, q.concurrency_limit) is not null as is_limited,
               case when q.rate_burst is not null then greatest(0, q.rate_burst - coalesce((
                 select case when s.at[cardinality(s.at)] <= v_now - q.rate_window then 0
                             when s.at[1] > v_now - q.rate_window then s.total
                             else (select sum(x.n) from unnest(s.at, s.n) as x (at, n) where x.at > v_now - q.rate_window)::int end
                   from queue_starts s
                  where s.queue_id = l.queue_id and s.key = case when q.rate_by_key then l.key else '' end limit 1), 0))
               end as starts,
               case when q.has_key_weights
                    then coalesce((select coalesce(k.weight_override, k.weight) from key_weights k
                                    where k.queue_id = l.queue_id and k.key = l.key), q.weight)
                    else q.weight end as weight,
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
          cross join unnest(v_rings) as g (ring)
          cross join lateral (
            select n.id, n.queue_id, n.key, n.turn from lanes n
             where n.env = p_env and n.pinned_version + 0 = r.pinned_version and n.ring = g.ring and not n.blocked
               and n.turn > v_turn and n.id <= case when v_wrapped then c_newest else v_newest end
               and (not v_wrapped or n.turn <= v_start or n.id > v_newest)
             order by n.turn limit c_page
          ) l
          join queues q on q.id = l.queue_id
         order by l.turn, l.id limit c_page
      ) p;
    v_page := v_page || v_part;
    v_strays := v_strays || v_stray;
    -- Behind the last lane comes the first, in the same page: what the runner wants is divided among all of them.
    if v_found < c_page and not v_wrapped and (v_start >= 0 or v_newest < c_newest) then
      v_wrapped := true;
      v_turn := -1;
      continue;
    end if;

    if cardinality(v_page) > 0 then
      if v_crowded then select x.page, x.deferred into v_page, v_deferred from one_lane_a_key(v_page) x; end if;
      -- Every lane gives as many whole turns as the runner wants of all of them; what is left of its want goes on around the ring. Where this
      -- page is not all of the ring, one turn each, and then those behind it.
      v_turn_of_all := case when v_weighted then (select sum(x.weight) from unnest(v_page) x) else cardinality(v_page) end;
      v_share := case when v_found = c_page then 0 else greatest(0, v_want - v_credit) / v_turn_of_all end;
      v_turns := case when v_share * v_turn_of_all < v_want - v_credit then v_share + 1 else v_share end;
      v_is_second := false;
      if v_shared then
        select x.page, x.deferred into v_page, v_is_second from shared_rooms(v_page, v_owed) x;
      end if;
      -- A lane that has nothing to give is in the head as well, without a row. One run more than a lane may give tells whether this
      -- claim leaves it empty: then nobody has to come by once more to find that out.
      with head as materialized (
        select p.*,
               -- among those that the lanes of its queue and key may give
               count(*) filter (where p.row is not null and not p.is_more) over (partition by p.queue_key order by p.pass, p.pos, p.n) as nth
          from (
            select p.*, p.row is not null and p.n > p.mine as is_more,
                   case when p.n <= p.credit then 0 when p.n <= p.credit + p.weight * v_share then 1 else 2 end as pass,
                   -- one that has had the rest of a turn is the last of the ring
                   case when p.credit > 0 and p.n > p.credit then p.at + c_lanes else p.at end as pos
              from (
                select p.lane_id, p.queue_key, p.pinned_version, p.at, p.room, p.cap, p.weight, p.credit, p.mine, h.row,
                       -- here and not in the lateral, which would begin and end a window for each lane
                       row_number() over (partition by p.at order by h.sort_key, h.run_id) as n
                  from (
                    select x.*, y.credit, least(x.room, y.credit + x.weight * v_turns) as mine
                      from unnest(v_page) with ordinality
                             as x (lane_id, pinned_version, turn, room, queue_key, cap, weight, shared_limit, at)
                      cross join lateral (select case when x.turn = v_start + 1 then v_credit else 0 end as credit) y) p
                  left join lateral (
                    select w.ctid as row, w.sort_key, w.run_id from queued w
                     where w.lane_id = p.lane_id and (w.expires_at is null or w.expires_at > p_at)
                       and (v_only_canary is null or p.pinned_version <> 0 or v_only_canary = (
                         canary_share(w.run_id) < v_percent
                         and (select true from runs r join tasks x on x.version_id = v_canary and x.id = r.task
                               where r.env = p_env and r.id = w.run_id limit 1) is not null))
                     order by w.sort_key, w.run_id
                     limit case when p.room > 0 then p.mine + 1 else 0 end
                  ) h on true) p) p
      ), taken as (
        delete from queued w
         using (select * from head h where h.row is not null and not h.is_more and h.nth <= h.cap
                 order by h.pass, h.pos, h.n limit v_want) h
         where w.ctid = h.row
        returning w.lane_id, w.run_id, w.sort_key, h.pinned_version, h.pass, h.pos
      ), claimed as materialized (
        select t.lane_id, t.pass, t.pos, t.run_id, nextval('lease_fences') as fence, x.attempt + 1 as attempt,
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
             count(*) filter (where c.pass = 0), max(c.pos) filter (where c.pass = 2), array_agg(c.pos) filter (where c.pass = 2),
             v_more or exists (select from head h where h.is_more and h.room > h.mine),
             v_full || array(select h.lane_id from head h where h.room = 0),
             v_idle || array(
               select i.lane_id
                 from (select h.lane_id, case when h.row is null then 0 else 1 end as n from head h where h.room > 0
                       union all select x.lane_id, -1 from claimed x) i
                group by i.lane_id having sum(i.n) = 0)
        into v_taken, v_paid, v_last_pos, v_gave, v_more, v_full, v_idle
        from claimed c;

      if v_taken is not null then
        -- a limit has no start left, or a lane was left out: once around more, to hold the lanes that have runs, or to take from it
        if v_rated then v_more := count_starts(p_env, v_now, v_taken) or v_deferred or v_more; end if;
        v_runs := v_runs || v_taken;
        v_want := v_want - cardinality(v_taken);
        if v_shared then
          v_more := v_more or v_is_second;
          v_rings := open_rings(v_limits, v_owed);
        end if;
        v_left := 0;
        v_is_over := v_share > 0;
        if v_last_pos is not null then
          v_lane := v_page[case when v_last_pos > c_lanes then v_last_pos - c_lanes else v_last_pos end];
          v_last := v_lane.turn;
          v_is_over := v_wrapped and (v_last <= v_start or v_lane.lane_id > v_newest);
          if v_want = 0 then v_left := v_lane.weight - cardinality(array_positions(v_gave, v_last_pos)); end if;
        elsif v_want = 0 and v_paid < v_credit then
          v_left := v_credit - v_paid;
          v_last := v_start + 1;
        elsif v_paid > 0 then
          v_last := v_start + 1;
        end if;
      end if;
    end if;

    v_page := '{}';
    v_credit := 0;
    -- the next claim holds more of them, and finds what lies behind them
    if cardinality(v_late) >= c_held then
      v_is_cut := true;
      perform pg_notify('millrace', json_build_object('wakes', json_build_array(json_build_object('kind', 'queued', 'env', p_env)))::text);
      exit;
    end if;
    if v_found < c_page then
      -- once around; again while some lane gave its whole share and there is want left
      exit when v_want = 0 or not v_more;
      v_more := false;
      v_wrapped := false;
      v_start := v_last;
      v_turn := v_start;
      v_newest := c_newest;
      v_idle := '{}';
      v_full := '{}';
      v_late := '{}';
    end if;
  end loop;

  -- What cannot give leaves the ring.
  if cardinality(v_late) > 0 then perform hold_lanes(v_late); end if;
  if cardinality(v_full) > 0 then perform block_lanes(v_full); end if;
  if v_strays is not null then perform assign_rings(v_strays); end if;
  -- a few are kept, because a lane that empties often fills again at once
  if cardinality(v_idle) > 8 then perform drop_idle_lanes(v_idle); end if;

  v_newest := case when v_want > 0 and not v_is_cut then null when v_newest < c_newest and not v_is_over then v_newest
                   else (select x.last_value from lanes_id_seq x) end;
  -- as text once, not in each row
  v_cursor := row (v_last - sign(v_left)::int, v_left, v_newest)::ring_cursor;
  return query
    select c.run_id, c.fence, c.attempt, c.version_id, v_cursor, c.task, c.payload, c.payload_type, c.metadata, c.tags, c.is_test,
           c.queue_id, c.concurrency_key, c.max_attempts, c.max_duration, c.machine, c.priority_ms, c.created_at, c.parent_id,
           c.root_id, c.schedule_id, c.event, c.batch_id, c.started_at, c.sort_key, c.traceparent, c.replay_of,
           c.idempotency_key, c.idempotency_key_options, c.region
      from unnest(v_runs) as c;
end $$;
