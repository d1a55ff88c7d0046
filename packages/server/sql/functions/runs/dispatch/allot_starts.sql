-- The second part of a claim: divides the runs that the claim wants among the lanes of a page, by turn and weight, within their limits. Every
-- lane has as many whole turns as all of them can have, and then one more, in the order of the ring, until the claim has what it wants. Where
-- the page is not the whole ring, each has one turn, and those behind it are next.
-- `p_credit`: what the lane behind `start` may still give of a turn that an earlier claim cut short.
-- Returns the shares in the order of the ring, how many whole turns each lane has, the lanes whose limits allow nothing, and whether lanes were
-- left out that share several limits with another one.
-- Invariant: while lanes have runs waiting, no lane is given more than one turn more than another, in proportion to their weights.
--
-- Locks: none. The caller holds the claim lock.
-- Callers: claim_runs.
create or replace function allot_starts(
  p_page lane_page, p_want int, p_credit int, p_has_owed_slots boolean,
  out shares lane_share[], out whole_turns int, out full_lanes bigint[], out is_partial boolean
)
language plpgsql
as $$
declare
  v_lanes ring_lane[] := p_page.lanes;
  v_next int := (p_page.reached).start + 1;
  v_want int := p_want - p_credit;
  v_round int;
  v_turns int;
  v_is_second boolean := false;
begin
  is_partial := false;
  if p_page.is_crowded then select x.page, x.deferred into v_lanes, is_partial from one_lane_a_key(v_lanes) x; end if;
  v_round := case when p_page.is_weighted then (select sum(x.weight) from unnest(v_lanes) x) else cardinality(v_lanes) end;
  whole_turns := case when p_page.is_end then greatest(0, v_want) / v_round else 0 end;
  v_turns := case when whole_turns * v_round < v_want then whole_turns + 1 else whole_turns end;
  if p_page.is_shared then select x.page, x.deferred into v_lanes, v_is_second from shared_rooms(v_lanes, p_has_owed_slots) x; end if;
  is_partial := is_partial or v_is_second;

  select array_agg(row (l.lane_id, l.pinned_version, l.turn, l.weight, l.room, l.queue_key, l.cap, c.credit, l.weight * whole_turns,
                        least(l.room, c.credit + l.weight * v_turns))::lane_share order by l.nth),
         array_agg(l.lane_id) filter (where l.room = 0)
    into shares, full_lanes
    from unnest(v_lanes) with ordinality
           as l (lane_id, pinned_version, turn, room, queue_key, cap, weight, shared_limit, nth)
    cross join lateral (select case when l.turn = v_next then p_credit else 0 end as credit) c;
end $$;
