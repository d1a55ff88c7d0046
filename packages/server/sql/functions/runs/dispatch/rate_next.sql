-- The earliest time of the `p_position`th next start, if at most `p_burst` starts are allowed in any `p_window` and each start happens as
-- soon as it is allowed. The result is `p_now` if that start is allowed now. Future starts (the clock was set back) count as starts at the
-- current time.
--
-- Locks: none.
-- Callers: queues/find.ts, runs/reason/start-conditions.ts, rate_limit_lanes, limit_triggers.
create or replace function rate_next(
  p_at timestamptz[], p_n int[], p_burst int, p_window interval, p_now timestamptz, p_position bigint
) returns timestamptz
language plpgsql immutable parallel safe as $$
declare
  -- the slot within a window that this start uses, and how many times each slot has been reused
  v_slot bigint := (p_position - 1) % p_burst;
  v_again bigint := (p_position - 1) / p_burst;
  v_free bigint := p_burst;
  v_at timestamptz;
  v_n int;
begin
  select p_burst - coalesce(sum(x.n), 0) into v_free from unnest(p_at, p_n) as x (at, n) where x.at > p_now - p_window;
  if v_slot < v_free then return p_now + v_again * p_window; end if;
  for v_at, v_n in
    select least(x.at, p_now), x.n from unnest(p_at, p_n) as x (at, n) where x.at > p_now - p_window order by x.at
  loop
    v_free := v_free + v_n;
    if v_slot < v_free then return v_at + (v_again + 1) * p_window; end if;
  end loop;
  -- more starts than the burst are recorded: the limit was lowered
  return v_at + (v_again + 1) * p_window;
end $$;
