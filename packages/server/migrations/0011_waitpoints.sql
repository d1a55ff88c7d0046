-- What runs wait for in the midst of their code (docs/waits.md).
--
-- A run that waits gives its place back: its lease moves to `suspended`, fence and all, where it counts nowhere. Once something that it
-- waits for is over it is ready: it takes a place again, before any run that has not begun, and its code goes on. If the process that held
-- its code is gone, it is queued instead and its code runs from the start; `waits` knows which of its waits are over, and those do not
-- wait again.

-- Somebody waits for its end.
alter table runs add column awaited boolean not null default false;

create table suspended (
  env int not null,
  run_id text collate "C" not null,
  fence bigint not null,
  -- the runner that holds its code; null when that is gone
  runner_id text collate "C",
  queue_id int not null,
  key text not null,
  version_id int not null,
  attempt int not null,
  -- how long the attempt has run without its waits
  active_ms bigint not null,
  since timestamptz not null,
  -- tells this suspension from earlier and later ones of the attempt
  spell bigint not null default nextval('lease_fences'),
  cancel_requested boolean not null default false,
  -- since when it wants its place back
  ready_at timestamptz,
  primary key (env, run_id)
);
create index suspended_ready on suspended (env, queue_id, key) where ready_at is not null;
create index suspended_by_runner on suspended (runner_id);

-- The waits of an attempt. They stay when they are over, as long as the run is kept: an attempt that begins anew finds them by their keys.
create table waits (
  env int not null,
  run_id text collate "C" not null,
  attempt int not null,
  -- which of the attempt's waits, such as `run/resize/2`: its third wait for a run of `resize`
  key text collate "C" not null,
  kind text not null check (kind in ('RUN', 'BATCH', 'TIME', 'TOKEN', 'MESSAGE')),
  -- the run, batch or token that it is for; of a message, the session
  target text collate "C",
  -- the run or token whose end is looked for; of a batch, one of its runs that are not over; of a message, the session's channel
  watched text collate "C",
  -- of a message: the number that it must lie beyond
  beyond bigint,
  due timestamptz,
  created_at timestamptz not null,
  over_at timestamptz,
  -- the attempt was told that it is over
  told boolean not null default false,
  primary key (env, run_id, attempt, key)
);
create index waits_by_watched on waits (env, watched) where over_at is null and watched is not null;
create index waits_by_due on waits (due) where over_at is null and due is not null;
create index waits_untold on waits (env, run_id) where over_at is not null and not told;

-- Tokens that somebody outside completes.
create table waitpoints (
  env int not null,
  id text collate "C" not null,
  status text not null default 'WAITING' check (status in ('WAITING', 'COMPLETED', 'TIMED_OUT')),
  idempotency_key text,
  idempotency_expires_at timestamptz,
  -- the part of its callback address that nobody can guess
  callback text not null,
  tags text[],
  expires_at timestamptz,
  created_at timestamptz not null,
  completed_at timestamptz,
  output text,
  output_type text,
  primary key (env, id),
  check ((status = 'WAITING') = (completed_at is null))
);
create unique index waitpoints_by_id on waitpoints (id);
create unique index waitpoints_by_key on waitpoints (env, idempotency_key) where idempotency_key is not null;
create index waitpoints_by_expiry on waitpoints (expires_at) where status = 'WAITING' and expires_at is not null;
create index waitpoints_by_end on waitpoints (completed_at) where completed_at is not null;

alter table suspended set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);

-- Asks to hear of the end of a run; false if it is over, or nowhere. Its row is locked: an end that is being written is waited for, one
-- that comes later sees what this transaction writes.
create function watch_run(p_env int, p_run text) returns boolean language plpgsql as $$
begin
  update runs r set awaited = true where r.env = p_env and r.id = p_run and r.status is null;
  return found;
end $$;

-- Watches one run of a batch that is not over, from `p_after` on: those before it are. Null: all of them are. The next is looked for
-- only when that one ends, so that the ends of a thousand runs meet nowhere.
create function watch_batch(p_env int, p_batch text, p_after text default '') returns text
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
  v_from text := greatest(batch_prefix(p_batch) collate "C", p_after collate "C");
  v_run text;
begin
  loop
    select r.id into v_run from runs r
     where r.env = p_env and r.id > v_from and r.id < batch_prefix(p_batch) || '~' and r.status is null order by r.id limit 1;
    if not found then
      select c.run_id into v_run from batch_cached c join runs r on r.env = c.env and r.id = c.run_id
       where c.env = p_env and c.place >= batch_prefix(p_batch) and c.place < batch_prefix(p_batch) || '~' and r.status is null limit 1;
    end if;
    if not found then return null; end if;
    if watch_run(p_env, v_run) then return v_run; end if;
  end loop;
end $$;

-- Something that these attempts wait for is over.
create function wake_waiters(p_at timestamptz, p_env int[], p_run text[], p_attempt int[]) returns void
language plpgsql as $$
declare
  v_env int[];
  v_run text[];
begin
  perform from suspended s
    join (select distinct * from unnest(p_env, p_run, p_attempt) as i (env, run_id, attempt)) i
      on s.env = i.env and s.run_id = i.run_id and s.attempt = i.attempt
   order by s.env, s.run_id for update of s;
  update suspended s set ready_at = p_at
    from unnest(p_env, p_run, p_attempt) as i (env, run_id, attempt)
   where s.env = i.env and s.run_id = i.run_id and s.attempt = i.attempt and s.ready_at is null and s.runner_id is not null;
  with gone as (
    delete from suspended s using unnest(p_env, p_run, p_attempt) as i (env, run_id, attempt)
     where s.env = i.env and s.run_id = i.run_id and s.attempt = i.attempt and s.runner_id is null
    returning s.env, s.run_id
  )
  select array_agg(g.env), array_agg(g.run_id) into v_env, v_run from gone g;
  if v_run is not null then perform requeue_runs(v_env, v_run); end if;
end $$;

-- A run or a token is over: so are the waits for it.
create function end_waits(p_at timestamptz, p_env int, p_watched text) returns void
language plpgsql as $$
declare
  w waits%rowtype;
  v_next text;
  v_env int[] := '{}';
  v_run text[] := '{}';
  v_attempt int[] := '{}';
begin
  for w in
    select * from waits x where x.env = p_env and x.watched = p_watched and x.over_at is null
     order by x.run_id, x.attempt, x.key for update
  loop
    if w.kind = 'BATCH' then
      v_next := watch_batch(p_env, w.target, w.watched);
      if v_next is not null then
        update waits x set watched = v_next
         where x.env = w.env and x.run_id = w.run_id and x.attempt = w.attempt and x.key = w.key;
        continue;
      end if;
    end if;
    update waits x set over_at = p_at
     where x.env = w.env and x.run_id = w.run_id and x.attempt = w.attempt and x.key = w.key;
    v_env := v_env || w.env;
    v_run := v_run || w.run_id;
    v_attempt := v_attempt || w.attempt;
  end loop;
  if cardinality(v_run) > 0 then perform wake_waiters(p_at, v_env, v_run, v_attempt); end if;
end $$;

-- However a run ends, in the transaction that ends it. A run that nobody waits for costs the look at `awaited`.
create function end_waits_for_run() returns trigger language plpgsql as $$
begin
  perform end_waits(new.finished_at, new.env, new.id);
  return null;
end $$;
create trigger runs_awaited after update of status on runs for each row
  when (new.awaited and old.status is null and new.status is not null) execute function end_waits_for_run();

-- Messages came to sessions, the last with these numbers: so waits for one of them are over. Of a session that takes none any more the
-- number lies beyond all others. The environments whose runs may go on.
create function end_message_waits(p_at timestamptz, p_env int[], p_channel text[], p_last bigint[]) returns table (env int)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_attempt int[];
begin
  with over as materialized (
    select w.ctid as place
      from unnest(p_env, p_channel, p_last) as i (env, channel, last)
      join waits w on w.env = i.env and w.watched = i.channel and w.over_at is null and w.beyond < i.last
     order by w.env, w.run_id, w.attempt, w.key for update of w
  ), done as (
    update waits w set over_at = p_at where w.ctid = any (array(select place from over)) returning w.env, w.run_id, w.attempt
  )
  select array_agg(d.env), array_agg(d.run_id), array_agg(d.attempt) into v_env, v_run, v_attempt from done d;
  if v_run is null then return; end if;
  perform wake_waiters(p_at, v_env, v_run, v_attempt);
  return query select distinct e from unnest(v_env) as e;
end $$;

-- Registers waits of live attempts, or asks again about some that are known, and suspends the attempts that have nothing to go on with.
-- Replies one row an attempt: `suspended` with its spell; `running` with the keys of its waits that are over; `stale` if the fence is not
-- live. `limited`: a place came free that somebody may be waiting for, or one is wanted back.
create function begin_waits(
  p_at timestamptz, p_env int[], p_run text[], p_fence bigint[], p_key text[], p_kind text[], p_target text[], p_due timestamptz[],
  p_beyond bigint[]
) returns table (env int, fence bigint, state text, spell bigint, keys text[], limited boolean)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_attempt int;
  v_watched text;
  v_due timestamptz;
  v_over boolean;
  v_limited boolean;
  w waits%rowtype;
  a record;
  l leases%rowtype;
  v_ending boolean;
  v_channel uuid[];
begin
  select lock_limited(array_agg(x.env), array_agg(x.queue_id)) into v_limited
    from unnest(p_env, p_run) as i (env, run_id)
    cross join lateral (select y.env, y.queue_id from leases y where y.env = i.env and y.run_id = i.run_id limit 1) x;

  -- What is waited for is locked first, the waiting attempt last: whatever ends does it in this order. Channels in the order of those who
  -- append to them: an append or a close that is being written is waited for, and one that comes later finds what this transaction writes.
  if 'MESSAGE' = any (p_kind) then
    select array_agg(case when i.kind = 'MESSAGE' then session_messages(i.env, i.target) end order by i.place) into v_channel
      from unnest(p_env, p_kind, p_target) with ordinality as i (env, kind, target, place);
    perform from channels c where c.id = any (v_channel) order by c.id for share;
  end if;
  for i in 1 .. cardinality(p_run) loop
    select x.attempt into v_attempt from leases x where x.env = p_env[i] and x.run_id = p_run[i] and x.fence = p_fence[i];
    if not found then
      select x.attempt into v_attempt from suspended x where x.env = p_env[i] and x.run_id = p_run[i] and x.fence = p_fence[i];
      continue when not found;
    end if;
    select * into w from waits x where x.env = p_env[i] and x.run_id = p_run[i] and x.attempt = v_attempt and x.key = p_key[i];
    if w.over_at is null then
      v_watched := null;
      v_due := null;
      if p_kind[i] = 'RUN' then
        v_watched := p_target[i];
        v_over := not watch_run(p_env[i], p_target[i]);
      elsif p_kind[i] = 'BATCH' then
        v_watched := watch_batch(p_env[i], p_target[i]);
        v_over := v_watched is null;
      elsif p_kind[i] = 'TOKEN' then
        v_watched := p_target[i];
        perform from waitpoints t where t.env = p_env[i] and t.id = p_target[i] and t.status = 'WAITING' for share;
        v_over := not found;
      elsif p_kind[i] = 'MESSAGE' then
        v_watched := v_channel[i]::text;
        -- No longer than messages are taken in.
        select coalesce(c.closed_at is not null or c.next_seq > greatest(c.start_seq, p_beyond[i] + 1), false),
               least(coalesce(w.due, p_due[i]), c.expires_at)
          into v_over, v_due
          from (select) one left join channels c on c.id = v_channel[i];
        v_over := v_over or coalesce(v_due <= p_at, false);
        -- Those for messages that have come are of no use to an attempt that has taken them.
        delete from waits x
         where x.env = p_env[i] and x.run_id = p_run[i] and x.attempt = v_attempt and x.watched = v_watched
           and x.beyond < p_beyond[i] and x.told;
      else
        v_due := coalesce(w.due, p_due[i]);
        v_over := v_due <= p_at;
      end if;
      insert into waits as x (env, run_id, attempt, key, kind, target, watched, beyond, due, created_at, over_at)
      values (p_env[i], p_run[i], v_attempt, p_key[i], p_kind[i], p_target[i], v_watched, p_beyond[i], v_due, p_at,
              case when v_over then p_at end)
      on conflict (env, run_id, attempt, key) do update
        set watched = excluded.watched, due = excluded.due, over_at = coalesce(x.over_at, excluded.over_at);
    end if;
  end loop;

  for a in
    select i.env, i.run_id, i.fence, array_agg(i.key) as asked
      from unnest(p_env, p_run, p_fence, p_key) as i (env, run_id, fence, key)
     group by i.env, i.run_id, i.fence order by i.env, i.run_id
  loop
    env := a.env;
    fence := a.fence;
    spell := null;
    limited := false;
    select * into l from leases x where x.env = a.env and x.run_id = a.run_id and x.fence = a.fence for update;
    if not found then
      select x.spell, x.attempt into spell, v_attempt from suspended x
       where x.env = a.env and x.run_id = a.run_id and x.fence = a.fence for update;
      state := case when found then 'suspended' else 'stale' end;
      keys := '{}';
      if state = 'suspended' and exists (
        select from waits x where x.env = a.env and x.run_id = a.run_id and x.attempt = v_attempt
           and x.over_at is not null and (not x.told or x.key = any (a.asked))) then
        update waits x set told = false
         where x.env = a.env and x.run_id = a.run_id and x.attempt = v_attempt and x.key = any (a.asked)
           and x.over_at is not null and x.told;
        limited := true;
        update suspended x set ready_at = coalesce(x.ready_at, p_at) where x.env = a.env and x.run_id = a.run_id;
      end if;
      return next;
      continue;
    end if;

    -- Whoever is ending another of its waits right now looks for it among the suspended too early: then it is ready from the start, and
    -- asks again. Those that nobody is ending are held until it can be found, as those that were asked about are already.
    select count(*) > (select count(*) from (
             select from waits h where h.env = a.env and h.run_id = a.run_id and h.attempt = l.attempt and h.key <> all (a.asked)
                and h.over_at is null for update skip locked) held)
      into v_ending
      from waits x where x.env = a.env and x.run_id = a.run_id and x.attempt = l.attempt and x.key <> all (a.asked) and x.over_at is null;
    with told as (
      update waits x set told = true
       where x.env = a.env and x.run_id = a.run_id and x.attempt = l.attempt and x.over_at is not null
         and (not x.told or x.key = any (a.asked))
      returning x.key
    )
    select coalesce(array_agg(t.key), '{}') into keys from told t;
    if cardinality(keys) > 0 then
      state := 'running';
      return next;
      continue;
    end if;

    state := 'suspended';
    limited := v_limited or v_ending;
    delete from leases x where x.env = a.env and x.run_id = a.run_id;
    insert into suspended as s (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, active_ms, since, cancel_requested,
                                ready_at)
    values (l.env, l.run_id, l.fence, l.runner_id, l.queue_id, l.key, l.version_id, l.attempt,
            greatest(0, extract(epoch from p_at - l.leased_at) * 1000)::bigint, p_at, l.cancel_requested,
            case when v_ending then p_at end)
    returning s.spell into spell;
    -- Bound to its version from now on, as by the end of an attempt.
    update runs r set started_at = coalesce(r.started_at, l.leased_at), version_id = l.version_id, updated_at = p_at
     where r.env = a.env and r.id = a.run_id;
    perform note_facets(array[a.env], array['v:' || l.version_id], array[a.run_id]);
    if v_limited then perform free_places(array[l.env], array[l.queue_id], array[l.key]); end if;
    return next;
  end loop;
end $$;

-- How many places of an environment its ready runs may take at once.
create function owed_places(p_env int) returns int
language plpgsql stable as $$
begin
  return (
    select coalesce(sum(least(s.wanted, coalesce(q.concurrency_override, q.concurrency_limit)
             - (select count(*) from leases x where x.env = p_env and x.queue_id = s.queue_id and x.key = s.key))), 0)
      from (select y.queue_id, y.key, count(*) as wanted from suspended y
             where y.env = p_env and y.ready_at is not null group by y.queue_id, y.key) s
      join queues q on q.id = s.queue_id and not q.paused)::int;
end $$;

-- Gives suspended runs of an environment that are ready their places back, as far as there is room.
create function resume_runs(p_env int, p_at timestamptz, p_most int)
returns table (run_id text, fence bigint, runner_id text, spell bigint, keys text[])
language plpgsql
as $$
#variable_conflict use_column
declare
  v_limit int;
  v_room int := p_most;
begin
  if not exists (select from suspended s where s.env = p_env and s.ready_at is not null) then return; end if;
  perform from runners r
   where r.id in (select s.runner_id from suspended s where s.env = p_env and s.ready_at is not null)
   order by r.id for key share;
  perform claim_lock(p_env);
  select e.concurrency_limit into v_limit from environments e where e.id = p_env and not e.paused;
  if not found then return; end if;
  if v_limit is not null then
    v_room := least(v_room, v_limit - (select count(*) from leases l where l.env = p_env)::int);
  end if;
  return query
    with ready as materialized (
      select s.run_id, s.queue_id, s.key, s.ready_at,
             row_number() over (partition by s.queue_id, s.key order by s.ready_at, s.run_id) as nth
        from suspended s join runners r on r.id = s.runner_id
       where s.env = p_env and s.ready_at is not null
    ), fits as materialized (
      select y.run_id
        from ready y join queues q on q.id = y.queue_id
       where not q.paused and (coalesce(q.concurrency_override, q.concurrency_limit) is null
          or y.nth <= coalesce(q.concurrency_override, q.concurrency_limit)
               - (select count(*) from leases x where x.env = p_env and x.queue_id = y.queue_id and x.key = y.key))
       order by y.ready_at, y.run_id limit greatest(0, v_room)
    ), held as materialized (
      select s.run_id from suspended s
       where s.env = p_env and s.run_id in (select f.run_id from fits f) and s.runner_id is not null
       order by s.run_id for update
    ), gone as (
      delete from suspended s where s.env = p_env and s.run_id in (select h.run_id from held h) returning s.*
    ), leased as (
      insert into leases (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, leased_at, cancel_requested)
      select g.env, g.run_id, g.fence, g.runner_id, g.queue_id, g.key, g.version_id, g.attempt,
             -- as if it had run without a pause: what it waited does not count
             p_at - make_interval(secs => g.active_ms / 1000.0), g.cancel_requested
        from gone g
    ), told as (
      update waits w set told = true from gone g
       where w.env = g.env and w.run_id = g.run_id and w.attempt = g.attempt and w.over_at is not null and not w.told
      returning w.run_id, w.key
    )
    select g.run_id, g.fence, g.runner_id, g.spell,
           (select coalesce(array_agg(t.key), '{}') from told t where t.run_id = g.run_id)
      from gone g;
end $$;

-- Makes suspended attempts leases again, for whoever ends them in this very transaction. True if there was one.
create function return_leases(p_at timestamptz, p_env int[], p_run text[], p_fence bigint[]) returns boolean
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
  perform from suspended s join unnest(p_env, p_run, p_fence) as i (env, run_id, fence)
      on s.env = i.env and s.run_id = i.run_id and s.fence = i.fence
   order by s.run_id for update of s;
  with gone as (
    delete from suspended s using unnest(p_env, p_run, p_fence) as i (env, run_id, fence)
     where s.env = i.env and s.run_id = i.run_id and s.fence = i.fence and s.runner_id is not null
    returning s.*
  )
  insert into leases (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, leased_at, cancel_requested)
  select g.env, g.run_id, g.fence, g.runner_id, g.queue_id, g.key, g.version_id, g.attempt,
         p_at - make_interval(secs => g.active_ms / 1000.0), g.cancel_requested
    from gone g;
  return found;
end $$;

-- The code of suspended runs is gone with the process that held it: what is ready is queued, the rest waits on without it. Which ones: all
-- of a runner, or those that it has not held (`p_held`) since then, or some (`p_only`). Replies those that were queued, and those that
-- were asked to stop, which the caller ends.
create function detach_runs(p_runner text, p_held bigint[], p_held_since timestamptz, p_only bigint[] default null)
returns table (env int, run_id text, verdict text, fence bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_verdict text[];
  v_fence bigint[];
begin
  select array_agg(x.env), array_agg(x.run_id), array_agg(x.fence),
         array_agg(case when x.cancel_requested then 'canceled' when x.ready_at is not null then 'queued' else 'waits' end)
    into v_env, v_run, v_fence, v_verdict
    from (select * from suspended s
           where s.runner_id = p_runner and (p_held is null or not s.fence = any (p_held) and s.since <= p_held_since)
             and (p_only is null or s.fence = any (p_only))
           order by s.run_id for update) x;
  if v_run is null then return; end if;
  -- a new fence: whatever its old holder may still send is refused
  update suspended s set runner_id = null, fence = nextval('lease_fences')
    from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict)
   where s.env = i.env and s.run_id = i.run_id and i.verdict = 'waits';
  delete from suspended s using unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict)
   where s.env = i.env and s.run_id = i.run_id and i.verdict = 'queued';
  perform requeue_runs(array_agg(i.env), array_agg(i.run_id))
     from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict) where i.verdict = 'queued' having count(*) > 0;
  return query select * from unnest(v_env, v_run, v_verdict, v_fence) as i (env, run_id, verdict, fence) where i.verdict <> 'waits';
end $$;

-- Ends what is due: waits for a time, and tokens that nobody completed in theirs. The environments whose runs may go on.
create function end_due_waits(p_at timestamptz, p_limit int) returns table (env int)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_attempt int[];
  t record;
begin
  with due as materialized (
    select w.ctid as place from waits w where w.over_at is null and w.due <= p_at order by w.due limit p_limit for update skip locked
  ), done as (
    update waits w set over_at = p_at where w.ctid = any (array(select place from due)) returning w.env, w.run_id, w.attempt
  )
  select array_agg(d.env), array_agg(d.run_id), array_agg(d.attempt) into v_env, v_run, v_attempt from done d;
  if v_run is not null then perform wake_waiters(p_at, v_env, v_run, v_attempt); end if;
  for t in
    with late as materialized (
      select x.ctid as place from waitpoints x where x.status = 'WAITING' and x.expires_at <= p_at
       order by x.expires_at limit p_limit for update skip locked
    )
    update waitpoints x set status = 'TIMED_OUT', completed_at = p_at where x.ctid = any (array(select place from late))
    returning x.env, x.id
  loop
    perform end_waits(p_at, t.env, t.id);
    v_env := v_env || t.env;
  end loop;
  return query select distinct e from unnest(v_env) as e;
end $$;

-- Completes a token that waits. What its status was; null if there is no such token.
create function complete_waitpoint(p_at timestamptz, p_env int, p_id text, p_output text, p_output_type text) returns text
language plpgsql as $$
declare
  v_status text;
begin
  update waitpoints t set status = 'COMPLETED', completed_at = p_at, output = p_output, output_type = p_output_type
   where t.env = p_env and t.id = p_id and t.status = 'WAITING';
  if found then
    perform end_waits(p_at, p_env, p_id);
    return 'WAITING';
  end if;
  select t.status into v_status from waitpoints t where t.env = p_env and t.id = p_id;
  return v_status;
end $$;
