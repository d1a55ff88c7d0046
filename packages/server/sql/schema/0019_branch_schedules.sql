-- Schedules that tasks declare fire in a branch of preview only if somebody asked for that.

alter table environments add column declared_schedules boolean not null default false;
