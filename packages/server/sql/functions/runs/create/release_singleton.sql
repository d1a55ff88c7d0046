-- Releases the run that waited for the previous run under its singleton key, in the transaction that ends the previous run. For a run without
-- such a key it costs only the check of the column.
--
-- Locks: singletons by its key, the delayed row of the run that waits.
-- Callers: the trigger below.
create or replace function release_singleton() returns trigger
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  s singletons%rowtype;
begin
  select * into s from singletons x where x.env = new.env and x.task = new.task and x.key = new.singleton_key for update;
  if not found then return null; end if;
  if s.previous = new.id then
    update singletons x set previous = null where x.env = s.env and x.task = s.task and x.key = s.key;
    s.previous := null;
    update delayed d
       set due = greatest(new.finished_at, (select r.delayed_until from runs r where r.env = s.env and r.id = s.run_id))
     where d.env = s.env and d.run_id = s.run_id and d.due = 'infinity';
    if found then
      -- wakes the promoter, which checks for due runs
      perform pg_notify('millrace', json_build_object('wakes', json_build_array(json_build_object('kind', 'promotion', 'inMs', 0)))::text);
    end if;
  end if;
  if s.previous is null and (select true from runs r where r.env = s.env and r.id = s.run_id and r.status is null limit 1) is null then
    delete from singletons x where x.env = s.env and x.task = s.task and x.key = s.key;
  end if;
  return null;
end $$;

create or replace trigger runs_singleton after update of status on runs for each row
  when (new.singleton_key is not null and old.status is null and new.status is not null) execute function release_singleton();
