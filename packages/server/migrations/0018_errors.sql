-- At once, before anything is changed: processes of an older version go on reading and writing until they are replaced.
lock table error_packing, error_packs, error_thinning, error_fingerprints, error_groups;

-- Which fingerprints are in the group of another (0003), packed: fingerprints up to `until`, and the number of the group of each. After an
-- upgrade of the rules that can be every one. Those met after `until` are looked up.
create table error_moves (
  env int primary key,
  until int not null,
  size int not null,
  moves bytea not null
);
-- compressed already
alter table error_moves alter moves set storage external;
drop index error_fingerprints_elsewhere;
create index error_fingerprints_elsewhere on error_fingerprints (env, id) where group_id <> own_group;

-- Whoever moves fingerprints, a process of an older version as well, leaves nothing packed that is no longer so.
create function forget_error_moves() returns trigger language plpgsql as $$
begin
  delete from error_moves where env = new.env;
  return null;
end $$;
create trigger forget_error_moves after update of group_id on error_fingerprints
  for each row when (old.group_id <> new.group_id) execute function forget_error_moves();

-- The state of a task's groups is in the index as well: an index on states moves no group that it did not move before.
drop index error_groups_by_task;
create index error_groups_by_task on error_groups (env, task, status) include (number);

-- Packs (0003) are of a quarter of an hour each, those before `hours_until` of an hour, those before `days_until` of a day. Those that there
-- are already are of an hour.
alter table error_packing
  add column hours_until timestamptz not null default '-infinity',
  add column days_until timestamptz not null default '-infinity';
update error_packing set hours_until = until;
-- What a pack counts begins there; a whole has no beginning. Without a default: a process of an older version that still runs would pack the whole
-- hour of quarters that are packed, and is refused.
alter table error_packs add column since timestamptz not null default '-infinity';
alter table error_packs alter since drop default;
update error_packs set since = at - interval '1 hour' where not whole;

-- Up to where the packs of an environment can be relied on: what came late (`tally_errors`) took those with it that begin before it.
create function packed_until(p error_packing) returns timestamptz language sql immutable parallel safe
return case when p.until < p.days_until then date_bin('1 day', p.until, 'epoch')
            when p.until < p.hours_until then date_bin('1 hour', p.until, 'epoch') else p.until end;

-- Where a pack ends, nearest to a moment.
create function nearest_pack(p error_packing, p_at timestamptz) returns timestamptz language sql immutable parallel safe
return case when p_at < p.days_until then date_bin('1 day', p_at + interval '12 hours', 'epoch')
            when p_at < p.hours_until then date_bin('1 hour', p_at + interval '30 minutes', 'epoch')
            else date_bin('15 minutes', p_at + interval '450 seconds', 'epoch') end;

-- Tallies before `days_until` have been thinned once more: of each day the last. A process of an older version thins no longer: it does not look
-- what is packed, nor lock.
alter table error_thinning rename until to hours_until;
alter table error_thinning
  alter hours_until set default '-infinity',
  add column days_until timestamptz not null default '-infinity';
