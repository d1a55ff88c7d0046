-- Takes waiting runs of an environment for a runner, and leases them to it (docs/claims.md). A claim goes around the rings of lanes from
-- `p_cursor` on, page by page: it reads lanes, allots starts to them, takes and leases their runs, and retires lanes that cannot give. Suspended
-- runs that are ready come first: their slots are not given away.
-- Each claim of a runner with room for more continues where the one before it stopped, within a turn if need be. One revolution serves the lanes
-- that were there when it began: lanes that are new wait for the next one, so that no flow of new keys can keep the claims from a lane.
-- `p_current` is the version on which runs without a pinned version start; null if the runner cannot execute it.
-- Returns the runs with their fences, and the cursor to continue from.
--
-- Locks: the runner (key share), the claim lock, queued rows that it deletes, queue_starts where a limit of rate applies, then lanes by id as
--        retire_lanes.
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
  -- as many lanes as one turn can use, within bounds: a page costs what it reads
  c_page constant int := least(256, greatest(16, p_want));
  c_newest constant bigint := 9223372036854775807;
  -- as many lanes are held by one claim: no other claim of the environment proceeds in the meantime
  c_held constant int := 5000;
  v_runner_no int;
  v_scope claim_scope;
  v_rings int[] := '{0}';
  v_want int;
  v_position ring_position := row (p_cursor.turn, p_cursor.turn, coalesce(p_cursor.newest, c_newest), false);
  v_page lane_page;
  v_allotted record;
  v_taken record;
  v_leases new_lease[] := '{}';
  v_share lane_share;
  -- what the first lane may still give of a turn; where the claim stopped, and what that lane may still give
  v_credit int := p_cursor.credit;
  v_last int := p_cursor.turn;
  v_left int := 0;
  -- the lane where it stopped was in the next revolution; this one had lanes with runs left
  v_is_over boolean := false;
  v_more boolean := false;
  v_is_cut boolean := false;
  v_late bigint[] := '{}';
  v_full bigint[] := '{}';
  v_misplaced bigint[] := '{}';
  v_empty bigint[] := '{}';
  v_cursor text;
begin
  select r.no into v_runner_no from runners r where r.id = p_runner for key share;
  if not found then return; end if;
  perform claim_lock(p_env);
  v_scope := claim_scope(p_env, p_runner, v_runner_no, p_pinned_versions, p_current, p_at);
  if v_scope.env is null then return; end if;
  v_want := least(p_want, v_scope.free_slots);
  if v_scope.shared_limits is not null then v_rings := open_rings(v_scope.shared_limits, v_scope.has_owed_slots); end if;

  while v_want > 0 loop
    v_page := read_lanes(v_scope, v_position, v_rings, c_page, v_want);
    v_position := v_page.reached;
    v_late := v_late || v_page.late;
    v_misplaced := v_misplaced || v_page.misplaced;

    if cardinality(v_page.lanes) > 0 then
      v_allotted := allot_starts(v_page, v_want, v_credit, v_scope.has_owed_slots);
      v_taken := take_runs(v_scope, v_allotted.shares, v_want);
      v_full := v_full || v_allotted.full_lanes;
      v_empty := v_empty || v_taken.emptied;
      v_more := v_more or v_taken.has_more;

      if v_taken.leases is not null then
        v_leases := v_leases || v_taken.leases;
        v_want := v_want - cardinality(v_taken.leases);
        -- a limit has no start left, or a lane was left out: once around more, to hold the lanes that have runs, or to take from it
        v_more := v_more or v_allotted.is_partial;
        if v_page.is_rated then v_more := count_starts(p_env, v_scope.rate_now, v_taken.leases) or v_more; end if;
        if v_page.is_shared then v_rings := open_rings(v_scope.shared_limits, v_scope.has_owed_slots); end if;
        v_left := 0;
        v_is_over := v_allotted.whole_turns > 0;
        if v_taken.last_share is not null then
          v_share := v_allotted.shares[v_taken.last_share];
          v_last := v_share.turn;
          v_is_over := v_position.wrapped
                       and (v_last <= v_position.start or v_share.lane_id > v_position.newest);
          if v_want = 0 then v_left := v_share.weight - v_taken.last_given; end if;
        elsif v_taken.credit_used > 0 or v_want = 0 and v_credit > 0 then
          v_last := v_position.start + 1;
          if v_want = 0 then v_left := v_credit - v_taken.credit_used; end if;
        end if;
      end if;
    end if;
    v_credit := 0;

    -- the next claim holds more of them, and finds what is behind them
    if cardinality(v_late) >= c_held then
      v_is_cut := true;
      perform pg_notify('millrace', json_build_object('wakes', json_build_array(json_build_object('kind', 'queued', 'env', p_env)))::text);
      exit;
    end if;
    if v_page.is_end then
      -- once around; again while some lane gave its whole share and the runner has room
      exit when v_want = 0 or not v_more;
      v_more := false;
      v_position := row (v_last, v_last, c_newest, false);
      v_late := '{}';
      v_full := '{}';
      v_empty := '{}';
    end if;
  end loop;

  perform retire_lanes(v_late, v_full, v_misplaced, v_empty);
  -- as text once, not in each row
  v_cursor := row (v_last - sign(v_left)::int, v_left,
                   case when v_want > 0 and not v_is_cut then null
                        when v_position.newest < c_newest and not v_is_over then v_position.newest
                        else (select x.last_value from lanes_id_seq x) end)::ring_cursor;
  return query
    select l.run_id, l.fence, l.attempt, l.version_id, v_cursor, r.task, r.payload, r.payload_type, r.metadata, r.tags, r.is_test, l.queue_id,
           r.concurrency_key, r.max_attempts, r.max_duration, r.machine, r.priority_ms, r.created_at, r.parent_id, r.root_id,
           r.schedule_id, r.event, r.batch_id, r.started_at, l.sort_key, r.traceparent, r.replay_of, r.idempotency_key,
           r.idempotency_key_options, r.region
      from unnest(v_leases) as l
      cross join lateral (select x.* from runs x where x.env = p_env and x.id = l.run_id limit 1) r;
end $$;
