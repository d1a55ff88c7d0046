-- The number of the last frame of lines of the runner that is stored. A frame that is sent again is not stored twice.
alter table runner_names add column logged bigint not null default 0;
