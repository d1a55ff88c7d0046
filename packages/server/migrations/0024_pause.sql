-- One row about the whole installation. While `paused_at` is set, no server of this database starts, fires, delivers or deletes anything
-- by itself, so that a restored database can be looked at before it acts.
create table installation (
  only_row boolean primary key default true check (only_row),
  paused_at timestamptz,
  -- Ticks of schedules that were due by then are not fired: before the restore they were.
  skip_ticks_until timestamptz
);
insert into installation default values;
