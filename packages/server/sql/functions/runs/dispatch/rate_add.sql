-- Notes starts: drops those that are over, and gives the latest two times one if they are close. A time is only ever moved to a later one,
-- so what is noted allows no start too early, and there are at most 18 times in a window.
--
-- Locks: none.
-- Callers: count_starts.
create or replace function rate_add(
  p_at timestamptz[], p_n int[], p_count int, p_window interval, p_now timestamptz, out at timestamptz[], out n int[]
)
language plpgsql immutable parallel safe as $$
declare
  v_last int;
begin
  select coalesce(array_agg(least(x.at, p_now) order by x.at), '{}'), coalesce(array_agg(x.n order by x.at), '{}') into at, n
    from unnest(p_at, p_n) as x (at, n) where x.at > p_now - p_window;
  v_last := cardinality(at);
  if v_last >= 1 and at[v_last] = p_now or v_last >= 2 and p_now - at[v_last - 1] < p_window / 8 then
    at[v_last] := p_now;
    n[v_last] := n[v_last] + p_count;
  else
    at := at || p_now;
    n := n || p_count;
  end if;
end $$;
