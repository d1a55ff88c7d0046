-- Organizations, their members, projects and environments.
--
-- Public ids are text. An environment also has a small integer, which is the first column of the key of most tables (`env`).

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
-- Users may type their address in any case.
create index users_by_address on users (lower(email)) where email is not null;

create table memberships (
  organization_id text collate "C" not null references organizations on delete cascade,
  user_id text collate "C" not null references users on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id)
);
create index memberships_by_user on memberships (user_id);

create table invitations (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  digest bytea not null unique check (length(digest) = 32),
  invited_by text collate "C" references users on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- when the invitation was accepted or revoked
  ended_at timestamptz
);
create index invitations_by_organization on invitations (organization_id) where ended_at is null;

create table projects (
  id int generated always as identity primary key,
  ref text collate "C" not null unique check (ref like 'proj\_%'),
  organization_id text collate "C" not null references organizations on delete cascade,
  name text not null,
  created_at timestamptz not null default now(),
  deleted_at timestamptz
);
create index projects_by_organization on projects (organization_id);

create table environments (
  id int generated always as identity primary key,
  public_id text collate "C" not null unique,
  project_id int not null references projects on delete cascade,
  kind text not null check (kind in ('dev', 'stg', 'prod', 'preview')),
  -- A branch of dev or preview has a name and a parent. Both are null for an environment that is not a branch.
  branch text check (branch is null or kind in ('dev', 'preview')),
  parent_id int references environments on delete cascade,
  -- the member that a development environment belongs to; null for other kinds and for branches
  member_id text collate "C" references users,
  paused boolean not null default false,
  -- maximum live attempts in the environment; null means no limit
  concurrency_limit int check (concurrency_limit >= 0),
  -- Schedules declared by tasks fire in a preview branch only if this was requested.
  declared_schedules boolean not null default false,
  -- days that finished runs are retained; null uses the server's setting
  run_retention_days int check (run_retention_days >= 1),
  -- the client's information about the Git branch
  git jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  archived_at timestamptz,
  -- from this time on, the environment's data is deleted in small steps; null means never
  prune_at timestamptz,
  check ((branch is null) = (parent_id is null))
);
-- The name of an archived environment can be reused.
create unique index environments_by_kind on environments (project_id, kind, member_id) nulls not distinct
  where parent_id is null and archived_at is null;
create unique index branches_by_name on environments (parent_id, branch) where parent_id is not null and archived_at is null;
create index environments_by_parent on environments (parent_id) where parent_id is not null;
create index environments_by_member on environments (member_id) where member_id is not null;
create index environments_to_prune on environments (prune_at) where prune_at is not null;

-- One row about the whole installation. While `paused_at` is set, no server of this database starts, fires, delivers or deletes anything on its
-- own. This allows a restored database to be inspected before it acts.
create table installation (
  only_row boolean primary key default true check (only_row),
  paused_at timestamptz,
  -- Schedule ticks due by this time are not fired: they fired before the backup was restored.
  skip_ticks_until timestamptz
);
insert into installation default values;
