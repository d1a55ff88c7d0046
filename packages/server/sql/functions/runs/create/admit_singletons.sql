-- Decides for triggers with a singleton key which run they lead to: the new run (`p_id`), or the live one of their task and key. `p_conflict`
-- says what happens where one is live:
--   skip     the trigger leads to the live run
--   queue    it leads to the run that waits; if one executes and none waits, the new run waits for its end
--   replace  the live runs are cancelled, and the new one waits until those that execute have stopped
-- A run that starts in this very moment counts as one that executes. A trigger that leads to another run already (`p_run_id`) is left alone.
-- `held`: the new run must wait for another one's end (release_singleton). `refused`: `ancestor` for a parent that would wait for itself.
-- It has no settings for the planner: those of its caller are in force.
--
-- Locks: with `replace` as cancel_runs; then singletons by environment, task and key, and for each the waiting row of its run (key share, skip
--        locked) and its idempotency key.
-- Callers: identify_runs.
create or replace function admit_singletons(
  p_at timestamptz, p_env int[], p_id text[], p_run_id text[], p_task text[], p_key text[], p_conflict text[], p_parent text[],
  p_idempotency_key text[], p_refused text[],
  out run_ids text[], out held boolean[], out refused text[]
)
language plpgsql
as $$
declare
  v_ix int;
  v_latest text;
  v_previous text;
  v_running text;
  v_waiting text;
  v_to text;
begin
  run_ids := p_run_id;
  refused := p_refused;
  held := array_fill(false, array[cardinality(p_id)]);
  for v_ix in
    select g.i from generate_subscripts(p_id, 1) as g (i)
     where p_key[g.i] is not null and p_run_id[g.i] = p_id[g.i] order by p_env[g.i], p_task[g.i], p_key[g.i], g.i
  loop
    if p_conflict[v_ix] = 'replace' then
      perform cancel_singleton(p_at, p_env[v_ix], p_task[v_ix], p_key[v_ix], p_parent[v_ix]);
    end if;
    insert into singletons as s (env, task, key, run_id) values (p_env[v_ix], p_task[v_ix], p_key[v_ix], p_id[v_ix])
    on conflict (env, task, key) do update set run_id = s.run_id
    returning s.run_id, s.previous into v_latest, v_previous;
    continue when v_latest = p_id[v_ix];

    if v_latest = any (p_id) then
      -- A trigger before this one in the same statement: its run is not inserted yet.
      if p_conflict[v_ix] = 'replace' then
        held[v_ix] := held[array_position(p_id, v_latest)];
        run_ids := array_replace(run_ids, v_latest, p_id[v_ix]);
        update singletons s set run_id = p_id[v_ix] where s.env = p_env[v_ix] and s.task = p_task[v_ix] and s.key = p_key[v_ix];
      else
        run_ids[v_ix] := v_latest;
      end if;
      continue;
    end if;

    v_running := (select r.id from runs r where r.env = p_env[v_ix] and r.id = v_previous and r.status is null limit 1);
    v_waiting := (select r.id from runs r where r.env = p_env[v_ix] and r.id = v_latest and r.status is null limit 1);
    if v_running is null and v_waiting is not null and p_conflict[v_ix] <> 'skip' and not holds_waiting(p_env[v_ix], v_waiting) then
      v_running := v_waiting;
      v_waiting := null;
    end if;
    if v_waiting is not null and p_conflict[v_ix] = 'replace' then
      -- It came after those that were cancelled above.
      perform cancel_runs(p_env[v_ix], v_waiting, p_at);
      v_waiting := null;
    end if;
    v_to := case p_conflict[v_ix] when 'skip' then coalesce(v_waiting, v_running) else v_waiting end;

    if left(p_idempotency_key[v_ix], 1) = E'\x01' and p_parent[v_ix] is not null
       and coalesce(v_to, v_running) = any (array(select a.id from run_ancestors(p_env[v_ix], p_parent[v_ix]) a)) then
      delete from idempotency_keys k
       where k.env = p_env[v_ix] and k.task = p_task[v_ix] and k.key = p_idempotency_key[v_ix] and k.run_id = p_id[v_ix];
      run_ids[v_ix] := '';
      refused[v_ix] := 'ancestor';
    elsif v_to is not null then
      run_ids[v_ix] := v_to;
      update idempotency_keys k set run_id = v_to
       where k.env = p_env[v_ix] and k.task = p_task[v_ix] and k.key = p_idempotency_key[v_ix] and k.run_id = p_id[v_ix];
    else
      held[v_ix] := v_running is not null;
      -- The end of a run that was cancelled above has deleted the row.
      insert into singletons as s (env, task, key, run_id, previous)
      values (p_env[v_ix], p_task[v_ix], p_key[v_ix], p_id[v_ix], v_running)
      on conflict (env, task, key) do update set run_id = excluded.run_id, previous = excluded.previous;
    end if;
  end loop;
end $$;
