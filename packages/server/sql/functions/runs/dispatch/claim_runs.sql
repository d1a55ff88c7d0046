-- Claims waiting runs of an environment for a runner, and leases them to it (docs/claims.md). A claim scans the lane rings from `p_cursor`,
-- page by page: it reads lanes, allots starts to them, takes and leases their runs, and retires lanes that cannot provide any. `p_current`
-- is the version on which runs without a pinned version start; null if the runner cannot execute it.
-- Returns the runs with their fences, and the cursor for the next claim.
-- Invariant: a revolution serves the lanes that existed when it began, so a stream of new keys cannot starve a lane.
--
-- Locks: the runner (key share), the claim lock, queued rows that it deletes, queue_starts where a rate limit applies, then lanes by id as
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
  -- as many lanes as one turn can use, within bounds: the cost of a page depends on the number of lanes read
  c_page constant int := least(256, greatest(16, p_want));
  -- limit per claim, because it blocks all other claims of the environment
  c_max_rate_limited constant int := 5000;
  v_scope claim_scope := claim_scope(p_env, p_runner, p_pinned_versions, p_current, p_at);
  v_want int := least(p_want, v_scope.free_slots);
  v_position ring_position := row (p_cursor.turn, p_cursor.turn, p_cursor.newest, false, p_cursor.credit);
  v_stopped ring_cursor := row (p_cursor.turn, 0, p_cursor.newest);
  v_page lane_page;
  v_allotted record;
  v_taken record;
  v_leases new_lease[] := '{}';
  v_more boolean := false;
  v_is_cut boolean := false;
  v_retired retired_lanes := row ('{}', '{}', '{}', '{}');
  v_cursor text;
begin
  while v_scope.env is not null and v_want > 0 loop
    v_page := read_lanes(v_scope, v_position, c_page, v_want);
    v_position := v_page.reached;
    v_retired.rate_limited := v_retired.rate_limited || v_page.rate_limited;
    v_retired.misplaced := v_retired.misplaced || v_page.misplaced;

    if cardinality(v_page.lanes) > 0 then
      v_allotted := allot_starts(v_page, v_want, v_scope.has_ready_runs);
      v_taken := take_runs(v_scope, v_page, v_allotted.shares, v_want);
      v_retired.at_limit := v_retired.at_limit || v_allotted.at_limit;
      v_retired.empty := v_retired.empty || v_taken.emptied;
      v_more := v_more or v_taken.has_more;
      if v_taken.leases is not null then
        v_leases := v_leases || v_taken.leases;
        v_want := v_want - cardinality(v_taken.leases);
        v_stopped := v_taken.stopped;
        v_more := v_more or v_allotted.is_partial;
        if v_page.has_shared_limit then v_scope.rings := open_rings(v_scope.shared_limits, v_scope.has_ready_runs); end if;
      end if;
    end if;

    -- the next claim holds more of them, and reaches the lanes after them
    v_is_cut := cardinality(v_retired.rate_limited) >= c_max_rate_limited;
    exit when v_is_cut or v_page.is_end and (v_want = 0 or not v_more);
    if v_page.is_end then
      -- one more revolution: the runner has free slots, and some lanes used their whole share, were deferred, or have no start left
      v_more := false;
      v_position := row (v_stopped.turn, v_stopped.turn, null, false, 0);
      v_retired := row ('{}', '{}', v_retired.misplaced, '{}');
    end if;
  end loop;

  perform retire_lanes(v_retired);
  if v_is_cut then
    perform pg_notify('millrace', json_build_object('wakes', json_build_array(json_build_object('kind', 'queued', 'env', p_env)))::text);
  end if;
  -- converted to text once, not in each row
  v_cursor := row (v_stopped.turn, v_stopped.credit,
                   case when v_want = 0 or v_is_cut then coalesce(v_stopped.newest, (select x.last_value from lanes_id_seq x)) end)::ring_cursor;
  return query
    select l.run_id, l.fence, l.attempt, l.version_id, v_cursor, r.task, r.payload, r.payload_type, r.metadata, r.tags, r.is_test, l.queue_id,
           r.concurrency_key, r.max_attempts, r.max_duration, r.machine, r.priority_ms, r.created_at, r.parent_id, r.root_id,
           r.schedule_id, r.event, r.batch_id, r.started_at, l.sort_key, r.traceparent, r.replay_of, r.idempotency_key,
           r.idempotency_key_options, r.region
      from unnest(v_leases) as l
      cross join lateral (select x.* from runs x where x.env = p_env and x.id = l.run_id limit 1) r;
end $$;
