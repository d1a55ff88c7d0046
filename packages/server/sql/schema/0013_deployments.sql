-- Deployments: what is uploaded, promoted, served and archived. A deployment is a row of `versions`.

alter table versions
  add column public_id text collate "C" not null default 'deployment_' || replace(gen_random_uuid()::text, '-', ''),
  -- uploading: not all of its files are there; ready: it may become current; failed: it was given up; archived: its files are gone
  add column state text not null default 'ready' check (state in ('uploading', 'ready', 'failed', 'archived')),
  -- false for one that a runner registered from its folder
  add column is_uploaded boolean not null default false,
  -- the code, as a runner fetches it
  add column bundle jsonb,
  -- of the bundle: what decides which runners can execute it
  add column node_major int,
  add column platforms text[] not null default '{}',
  add column requires text[] not null default '{}',
  -- of its files and layers, compressed
  add column bytes bigint not null default 0,
  add column node_version text,
  add column sdk_version text,
  add column git jsonb,
  add column message text,
  -- as it was last given; `external_ids` has those that count
  add column external_id text,
  -- the name of a key, or a user; and the host
  add column deployed_by text,
  add column deployed_from text,
  -- why it failed
  add column error jsonb,
  -- when its upload was begun, or continued
  add column begun_at timestamptz,
  -- when it became current for the first time
  add column promoted_at timestamptz,
  add constraint versions_by_public_id unique (public_id),
  add constraint versions_uploading check (state <> 'uploading' or is_uploaded),
  add constraint versions_bundle check (not is_uploaded or bundle is not null or state in ('failed', 'archived'));
-- What fetching runners can be given: few of all versions.
create index versions_uploaded on versions (env, sequence) where is_uploaded and state = 'ready';
create index versions_uploading on versions (begun_at) where state = 'uploading';
-- Until now every version became current when it was registered.
update versions set promoted_at = created_at;

-- Which deployment runs with an `externalDeploymentId` start on. It is ready.
create table external_ids (
  env int not null,
  id text not null,
  version_id int not null references versions on delete cascade,
  primary key (env, id)
);

-- Files and layers of deployments, compressed. A project stores each once. Pieces arrive in order.
create table blobs (
  project_id int not null references projects on delete cascade,
  -- SHA-256 of what is stored
  digest text collate "C" not null,
  size bigint not null check (size > 0),
  -- so many bytes from its beginning are there
  received bigint not null default 0 check (received between 0 and size),
  -- SHA-256 and size of the content that was compressed; null until both digests were verified
  content_digest text collate "C",
  content_size bigint,
  -- when a deployment last asked for it
  used_at timestamptz not null,
  primary key (project_id, digest),
  check ((content_digest is null) = (content_size is null)),
  check (content_digest is null or received = size)
);
create index blobs_by_content on blobs (project_id, content_digest) where content_digest is not null;
create index blobs_by_use on blobs (used_at);

create table blob_pieces (
  project_id int not null,
  blob text collate "C" not null,
  -- position of its first byte
  start bigint not null,
  data bytea not null,
  primary key (project_id, blob, start),
  foreign key (project_id, blob) references blobs on delete cascade
);
-- It is compressed already.
alter table blob_pieces alter column data set storage external;

-- The blobs that a deployment needs. One that failed or is archived needs none.
create table version_blobs (
  env int not null,
  version_id int not null references versions on delete cascade,
  project_id int not null,
  blob text collate "C" not null,
  -- what its content should be. Two uploaders may compress the same content differently; finalizing chooses one.
  content_digest text collate "C" not null,
  primary key (version_id, blob)
);
create index version_blobs_by_blob on version_blobs (project_id, blob);

-- Of a declared schedule: the current version does not declare it. It is hidden and does not fire, and comes back as it was.
alter table schedules add column set_aside boolean not null default false;
