-- The second part of a claim: divides the requested number of runs among the lanes of a page by turn and weight, within their limits. Every
-- lane gets the same number of full turns, as many as fit. Then each gets one more, in ring order, until the requested number is reached.
-- If the page is not the whole revolution, each lane has one turn, and the lanes after the page are next.
-- Returns the shares in ring order, the lanes whose limits allow nothing, and whether lanes that share several limits with another lane were
-- deferred.
-- Invariant: while lanes have waiting runs, no lane gets more than one turn more than another, in proportion to their weights.
--
-- Locks: none. The caller holds the claim lock.
-- Callers: claim_runs.
create or replace function allot_starts(
  p_page lane_page, p_want int, p_has_ready_runs boolean, out shares lane_share[], out at_limit bigint[], out is_partial boolean
)
language plpgsql
as $$
declare
  v_lanes ring_lane[] := p_page.lanes;
  -- the runs that the page may give in turns; the runs in one turn of all its lanes; the full turns for each lane, and the maximum
  v_want int := greatest(0, p_want - p_page.credit);
  v_turn_of_all int;
  v_full_turns int := 0;
  v_turns int;
  v_is_partial boolean := false;
begin
  is_partial := false;
  if p_page.has_queue_rate_and_concurrency then select x.page, x.deferred into v_lanes, is_partial from one_lane_a_key(v_lanes) x; end if;
  v_turn_of_all := case when p_page.has_weights then (select sum(x.weight) from unnest(v_lanes) x) else cardinality(v_lanes) end;
  if p_page.is_only then v_full_turns := v_want / v_turn_of_all; end if;
  v_turns := case when v_full_turns * v_turn_of_all < v_want then v_full_turns + 1 else v_full_turns end;
  if p_page.has_shared_limit then select x.page, x.deferred into v_lanes, v_is_partial from shared_rooms(v_lanes, p_has_ready_runs) x; end if;
  is_partial := is_partial or v_is_partial;

  select array_agg(row (l.lane_id, l.pinned_version, l.turn, l.weight, l.room, l.queue_key, l.cap, c.credit, l.weight * v_full_turns,
                        least(l.room, c.credit + l.weight * v_turns))::lane_share order by l.nth),
         array_agg(l.lane_id) filter (where l.room = 0)
    into shares, at_limit
    from unnest(v_lanes) with ordinality
           as l (lane_id, pinned_version, turn, room, queue_key, cap, weight, shared_limit, nth)
    cross join lateral (select case when l.turn = (p_page.reached).start + 1 then p_page.credit else 0 end as credit) c;
end $$;
