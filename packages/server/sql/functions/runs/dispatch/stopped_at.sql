-- Returns where a claim has stopped in a page. It stopped in the last turn of the share at `p_last`, of which it has taken `p_allotted` runs. Or
-- it stopped before the last turns (null), after `p_credit_used` runs of the turn that an earlier claim cut short and all or none of the full
-- turns. The rest of the turn is its credit, unless the claim would have taken more (not `p_is_full`). `newest` is null if the revolution has
-- ended.
-- Invariant: the next claim begins with the lane that has part of a turn left, or else with the lane after the last one that provided runs.
--
-- Locks: none.
-- Callers: take_runs.
create or replace function stopped_at(
  p_page lane_page, p_shares lane_share[], p_last bigint, p_allotted int, p_credit_used int, p_is_full boolean
) returns ring_cursor
language plpgsql
as $$
declare
  v_reached ring_position := p_page.reached;
  v_share lane_share := p_shares[p_last];
  v_turn int := v_share.turn;
  v_left int := v_share.weight - p_allotted;
  v_is_over boolean := v_reached.wrapped and (v_share.turn <= v_reached.start or v_share.lane_id > v_reached.newest);
begin
  if p_last is null then
    v_turn := v_reached.start + sign(p_page.credit);
    v_left := p_page.credit - p_credit_used;
    v_is_over := p_shares[1].in_full_turns > 0;
  end if;
  if not p_is_full then v_left := 0; end if;
  return row (v_turn - sign(v_left), v_left, case when v_is_over then null else v_reached.newest end)::ring_cursor;
end $$;
