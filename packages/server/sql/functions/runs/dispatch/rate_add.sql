-- Notes starts: drops those that are over, and gives the latest two times one if they are close. A time is only ever moved to a later one,
-- so what is noted allows no start too early, and there are at most 18 times in a window. Times in the future (the clock was set back) become
-- now. What is over at the time `p_since`, when the claim looked, is dropped.
--
-- Locks: none.
-- Callers: count_starts, limit_triggers.
create or replace function rate_add(
  p_at timestamptz[], p_n int[], p_count int, p_window interval, p_since timestamptz, p_now timestamptz,
  out at timestamptz[], out n int[], out total int
)
language plpgsql immutable parallel safe as $$
declare
  v_over timestamptz := p_since - p_window;
  v_last int := 0;
begin
  at := array[p_now];
  n := array[p_count];
  total := p_count;
  if p_at[cardinality(p_at)] <= v_over then return; end if;
  at := '{}';
  n := '{}';
  for i in 1 .. cardinality(p_at) loop
    continue when p_at[i] <= v_over;
    v_last := v_last + 1;
    at[v_last] := least(p_at[i], p_now);
    n[v_last] := p_n[i];
    total := total + p_n[i];
  end loop;
  if at[v_last] = p_now or v_last > 1 and p_now - at[v_last - 1] < p_window / 8 then
    at[v_last] := p_now;
    n[v_last] := n[v_last] + p_count;
  else
    at[v_last + 1] := p_now;
    n[v_last + 1] := p_count;
  end if;
end $$;
