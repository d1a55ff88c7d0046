-- Who owns what: organisations, users, projects, environments, credentials.
-- Public ids are text on the wire; environments also have a small integer that leads the key of every hot table.

create table organizations (
  id text collate "C" primary key,
  name text not null,
  created_at timestamptz not null default now()
);

create table users (
  id text collate "C" primary key,
  email text unique,
  name text not null,
  created_at timestamptz not null default now()
);

create table memberships (
  organization_id text collate "C" not null references organizations on delete cascade,
  user_id text collate "C" not null references users on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id)
);
create index memberships_by_user on memberships (user_id);

create table projects (
  id int generated always as identity primary key,
  ref text collate "C" not null unique check (ref like 'proj\_%'),
  organization_id text collate "C" not null references organizations on delete cascade,
  name text not null,
  created_at timestamptz not null default now()
);
create index projects_by_organization on projects (organization_id);

create table environments (
  id int generated always as identity primary key,
  public_id text collate "C" not null unique,
  project_id int not null references projects on delete cascade,
  kind text not null check (kind in ('dev', 'stg', 'prod', 'preview')),
  -- null for the environment itself; a branch of dev or preview names itself and its parent
  branch text check (branch is null or kind in ('dev', 'preview')),
  parent_id int references environments on delete cascade,
  paused boolean not null default false,
  -- how many attempts may be live at once in the whole environment; null is no limit
  concurrency_limit int check (concurrency_limit >= 0),
  archived_at timestamptz,
  created_at timestamptz not null default now(),
  check ((branch is null) = (parent_id is null)),
  unique nulls not distinct (project_id, kind, branch)
);

-- A key is found by the SHA-256 of its text after the marker, so that `svc_` and `tr_` present the same key.
-- The text itself is kept sealed: tokens that a client signs with it must verify.
create table secret_keys (
  id text collate "C" primary key,
  environment_id int not null references environments on delete cascade,
  digest bytea not null unique check (length(digest) = 32),
  sealed bytea not null,
  last_four text not null,
  name text not null check (length(name) between 1 and 64),
  scopes text[] not null default '{admin}',
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  -- a rotation that had to wait for another one is the later of the two
  created_at timestamptz not null default clock_timestamp()
);
create index secret_keys_by_environment on secret_keys (environment_id);

create table personal_access_tokens (
  id text collate "C" primary key,
  user_id text collate "C" not null references users on delete cascade,
  digest bytea not null unique check (length(digest) = 32),
  -- only the token of the first start, so that dev mode can show it again
  sealed bytea,
  last_four text not null,
  name text not null check (length(name) between 1 and 64),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);
create index personal_access_tokens_by_user on personal_access_tokens (user_id);

-- One sealed text whose clear form is known: a wrong master key is noticed at start, before it can do harm.
create table master_key_check (
  only_row boolean primary key default true check (only_row),
  sealed bytea not null,
  created_at timestamptz not null default now()
);
