-- Locks versions that new runs are pinned to, so that none is archived until the transaction ends. Fails with P0V01 if one has been
-- archived since the trigger read it.
-- The planner settings of the caller apply.
--
-- Locks: versions by id (key share).
-- Callers: create_runs.
create or replace function hold_versions(p_versions int[]) returns void
language plpgsql
as $$
declare
  v_version text;
  v_state text;
begin
  perform from versions v where v.id = any (p_versions) order by v.id for key share;
  select v.version, v.state into v_version, v_state from versions v where v.id = any (p_versions) and v.state <> 'ready' limit 1;
  if found then
    raise exception using errcode = 'P0V01', message = format(
      'Version "%s" cannot execute runs: its deployment is %s. Lock to another version.', v_version, v_state);
  end if;
end $$;
