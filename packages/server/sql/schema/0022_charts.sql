-- Charts of the statistics that members saved, for everybody in the project.

create table charts (
  id text collate "C" primary key check (id like 'chart\_%'),
  env int not null references environments on delete cascade,
  name text not null,
  -- measures and forms are checked by the API, which may get more of them
  measure text not null,
  -- task, queue, version or status; null for one series
  division text,
  task text,
  queue text,
  version text,
  -- such as 24h, up to now
  period text not null,
  form text not null,
  pinned boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (num_nonnulls(task, queue, version) <= 1)
);
create index charts_by_env on charts (env, created_at, id);
