-- The short text that a run's trigger gave it, for people to read.
alter table runs add column description text;
