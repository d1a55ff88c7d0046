-- Worker versions, the tasks that each declares, and the runners that execute them.

create table versions (
  id int generated always as identity primary key,
  env int not null,
  version text not null,
  -- order of deployment within the environment
  sequence int not null,
  content_hash text not null,
  created_at timestamptz not null default now(),
  unique (env, version),
  unique (env, sequence)
);
create index versions_by_content on versions (env, content_hash);

create table current_versions (
  env int primary key,
  version_id int not null references versions
);

create table tasks (
  version_id int not null references versions on delete cascade,
  id text not null,
  -- as the version declared it
  manifest jsonb not null,
  primary key (version_id, id)
);

create table runners (
  id text collate "C" primary key,
  env int not null,
  host text not null,
  pid int not null,
  -- the present connection; the end of an older one is ignored
  connection text not null,
  -- the versions that it can execute while it is connected
  versions int[] not null default '{}',
  connected_at timestamptz not null,
  -- its leases end then unless it sends a heartbeat
  expires_at timestamptz not null
);
create index runners_by_expiry on runners (expires_at);
create index runners_by_env on runners (env);
