-- Begins a claim, and returns its scope: the versions that the runner executes, the free slots of the environment, and its shared limits. Null
-- if the runner is gone or the environment is paused.
-- During a canary, runs without a pinned version are divided by `canary_share`. A runner that has only one of the two versions gets only that
-- version's runs.
-- Invariant: the result stays valid until the transaction ends, because freeing or taking a limited slot requires the claim lock.
--
-- Locks: the runner (key share), the claim lock.
-- Callers: claim_runs.
create or replace function claim_scope(
  p_env int, p_runner_id text, p_pinned_versions int[], p_current int, p_at timestamptz
) returns claim_scope
language plpgsql
as $$
declare
  v_scope claim_scope;
  v_runner_no int;
  v_limit int;
begin
  select r.no into v_runner_no from runners r where r.id = p_runner_id for key share;
  if not found then return null; end if;
  perform claim_lock(p_env);
  select e.id, e.concurrency_limit, c.canary_id, c.canary_percent,
         (select array_agg(s.id) from shared_limits s where s.env = e.id),
         exists (select from suspended s where s.env = p_env and s.ready_at is not null)
    into v_scope.env, v_limit, v_scope.canary, v_scope.canary_percent, v_scope.shared_limits, v_scope.has_ready_runs
    from environments e left join current_versions c on c.env = e.id and c.canary_id is not null
   where e.id = p_env and not e.paused;
  if not found then return null; end if;

  v_scope.runner_id := p_runner_id;
  v_scope.runner_no := v_runner_no;
  v_scope.pinned_versions := p_pinned_versions;
  v_scope.current_version := p_current;
  if p_current is null and (v_scope.canary = any (p_pinned_versions)) is not true then
    v_scope.pinned_versions := array_remove(p_pinned_versions, 0);
  elsif p_current is null then
    v_scope.only_canary := true;
  elsif v_scope.canary is not null and v_scope.canary <> all (p_pinned_versions) then
    v_scope.only_canary := false;
  end if;

  if v_limit is not null then
    v_scope.free_slots := v_limit - (select count(*) from leases l where l.env = p_env)::int
                          - case when v_scope.has_ready_runs then reserved_slots(p_env) else 0 end;
  end if;
  v_scope.rings := '{0}';
  if v_scope.shared_limits is not null then v_scope.rings := open_rings(v_scope.shared_limits, v_scope.has_ready_runs); end if;
  v_scope.at := p_at;
  -- one time for the whole claim; otherwise it would continue as long as starts keep becoming possible
  v_scope.rate_now := rate_now();
  return v_scope;
end $$;
