-- Records the failures of runs that have just ended other than through complete_attempts.
--
-- Locks: the runs; endpoints (notify_failed_runs).
-- Callers: errors/record/record.ts.
create or replace function record_errors(p_at timestamptz, p_env int[], p_run text[], p_fingerprint int[]) returns void
language plpgsql as $$
begin
  with written as (
    update runs r set error_fingerprint_id = i.fingerprint_id
      from unnest(p_env, p_run, p_fingerprint) as i (env, run_id, fingerprint_id)
     where r.env = i.env and r.id = i.run_id
    returning r.env, r.id, r.error_fingerprint_id as fingerprint_id, coalesce(r.version_id, 0) as version, r.started_at
  )
  insert into error_arrivals (env, fingerprint_id, version, at, started, n, spans)
  select env, fingerprint_id, version, date_trunc('milliseconds', p_at), coalesce(max(started_at), p_at), count(*),
         array_agg(distinct left(id, 10))
    from written group by env, fingerprint_id, version;
  if exists (select from notification_endpoints) then perform notify_failed_runs(p_env, p_run); end if;
end $$;
