-- Whether the latest occurrences reopen a resolved or ignored group: the reason and the time, or nulls. The arrays contain the group's new
-- arrivals, already tallied.
--
-- Locks: none.
-- Callers: tally_errors.
create or replace function error_reopening(
  g error_groups, p_at timestamptz[], p_started timestamptz[], p_version int[], out act text, out at timestamptz
) language plpgsql stable as $$
declare
  v_since interval;
  v_fix int;
begin
  if g.status = 'resolved' then
    act := 'regressed';
    select v.sequence into v_fix from versions v where v.env = g.env and v.version = g.resolved_in_version;
    if v_fix is not null then
      select min(i.at) into at
        from unnest(p_at, p_version) as i (at, version) join versions run on run.id = i.version
       where run.env = g.env and run.sequence >= v_fix;
    elsif g.resolved_in_version is null or not is_future_version(g.env, g.resolved_in_version) then
      -- a run that started before the fix does not show whether the fix works
      select min(i.at) into at from unnest(p_at, p_started) as i (at, started)
       where i.at > g.resolved_at and i.started > g.resolved_at;
    end if;
  elsif g.status = 'ignored' then
    act := 'ignoreEnded';
    select min(i) into at from unnest(p_at) as i where i >= g.ignored_until;
    if at is null and g.total - g.ignored_from_total >= g.ignored_until_total then
      select max(i) into at from unnest(p_at) as i;
    end if;
    if at is null and g.ignored_until_rate is not null then
      -- A sliding minute. A rate below one per minute uses as many minutes as it takes to expect one occurrence.
      v_since := make_interval(mins => ceil(1 / least(1, greatest(g.ignored_until_rate, 1 / 43200.0::float8)))::int);
      select min(i.at) into at
        from (select i as at from unnest(p_at) as i
              union
              -- later occurrences whose minute includes one of these
              select t.at
                from (select min(i) as first, max(i) as last from unnest(p_at) as i) a
                join error_fingerprints f on f.env = g.env and f.group_id = g.id
               cross join lateral (
                 select t.at from error_tallies t
                  where t.env = f.env and t.fingerprint_id = f.id and t.at > a.first and t.at < a.last + v_since and t.at >= g.ignored_at) t
               where a.first < g.last_seen) i
       where (select sum(errors_until(f.env, f.id, i.at)
                         - errors_until(f.env, f.id, greatest(i.at - v_since, g.ignored_at - interval '1 millisecond')))
                from error_fingerprints f where f.env = g.env and f.group_id = g.id)
             > g.ignored_until_rate * extract(epoch from v_since) / 60;
    end if;
  end if;
  if at is null then act := null; end if;
end $$;
