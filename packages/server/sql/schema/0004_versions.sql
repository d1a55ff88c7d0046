-- Worker versions, which are also deployments, the tasks that each declares, its files, and the runners that execute it.

create table versions (
  id int generated always as identity primary key,
  env int not null,
  public_id text collate "C" not null default 'deployment_' || replace(gen_random_uuid()::text, '-', ''),
  version text not null,
  -- order of deployment within the environment
  sequence int not null,
  content_hash text not null,
  -- uploading: not all of its files are there; ready: it may become current; failed: it was given up; archived: its files are gone
  state text not null default 'ready' check (state in ('uploading', 'ready', 'failed', 'archived')),
  -- false for one that a runner registered from its folder
  is_uploaded boolean not null default false,
  -- the code, as a runner fetches it
  bundle jsonb,
  -- of the bundle: what decides which runners can execute it
  node_major int,
  platforms text[] not null default '{}',
  requires text[] not null default '{}',
  -- of its files and layers, compressed
  bytes bigint not null default 0,
  node_version text,
  sdk_version text,
  git jsonb,
  message text,
  -- as it was last given; `external_ids` has those that count
  external_id text,
  -- the name of a key, or a user; and the host
  deployed_by text,
  deployed_from text,
  -- why it failed
  error jsonb,
  created_at timestamptz not null default now(),
  -- when its upload was begun, or continued
  begun_at timestamptz,
  -- when it became current for the first time
  promoted_at timestamptz,
  unique (env, version),
  unique (env, sequence),
  constraint versions_by_public_id unique (public_id),
  constraint versions_uploading check (state <> 'uploading' or is_uploaded),
  constraint versions_bundle check (not is_uploaded or bundle is not null or state in ('failed', 'archived'))
);
create index versions_by_content on versions (env, content_hash);
-- What fetching runners can be given: few of all versions.
create index versions_uploaded on versions (env, sequence) where is_uploaded and state = 'ready';
create index versions_uploading on versions (begun_at) where state = 'uploading';

-- With a canary, a share of the runs that are not bound to a version start on it, and the others on the current one.
create table current_versions (
  env int primary key,
  version_id int not null references versions,
  canary_id int references versions,
  -- of the runs, chosen by `canary_share` of their ids
  canary_percent int check (canary_percent between 1 and 99),
  constraint current_versions_canary check ((canary_id is null) = (canary_percent is null) and canary_id <> version_id)
);

-- Which deployment runs with an `externalDeploymentId` start on. It is ready.
create table external_ids (
  env int not null,
  id text not null,
  version_id int not null references versions on delete cascade,
  primary key (env, id)
);

create table tasks (
  version_id int not null references versions on delete cascade,
  id text not null,
  -- as the version declared it
  manifest jsonb not null,
  -- The JSON Schema of the payload, if the library of the task could write one. Not `jsonb`: the order of properties is that of the form.
  payload_schema json,
  -- why a declared schema has none, for people
  payload_schema_note text,
  primary key (version_id, id),
  constraint tasks_payload_schema check (payload_schema is null or payload_schema_note is null)
);

-- An object of an S3-compatible store. Its row is there before it is uploaded and until after it is deleted, so that none is forgotten.
create table blob_objects (
  -- below the prefix of the store. Never used again, so that a late deletion cannot hit another object.
  key text collate "C" primary key,
  created_at timestamptz not null,
  -- a blob names it. One that none names is deleted an hour after its upload began.
  in_use boolean not null default false
);
create index blob_objects_unused on blob_objects (created_at) where not in_use;

-- Files and layers of deployments, compressed. A project stores each once. Pieces arrive in order. With an S3-compatible store, a verified
-- blob is moved into an object, and its pieces are deleted.
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
  -- where its bytes are; null for those in `blob_pieces`
  object_key text collate "C" references blob_objects,
  -- when a deployment last asked for it
  used_at timestamptz not null,
  primary key (project_id, digest),
  check ((content_digest is null) = (content_size is null)),
  check (content_digest is null or received = size),
  constraint blobs_object check (object_key is null or content_digest is not null)
);
create index blobs_by_content on blobs (project_id, content_digest) where content_digest is not null;
create index blobs_by_use on blobs (used_at);
create unique index blobs_by_object on blobs (object_key) where object_key is not null;

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

create table runners (
  id text collate "C" primary key,
  env int not null,
  -- of `runner_names`
  no int,
  host text not null,
  pid int not null,
  -- the release of Millrace that it is of, as it said when it connected; null for one that does not say it
  release text,
  -- null for a runner that does not fetch versions
  platform text,
  node_major int,
  labels text[] not null default '{}',
  -- attempts that it accepts at once, as it said when it connected
  slots int not null default 0,
  -- the present connection; the end of an older one is ignored
  connection text not null,
  -- the versions that it can execute while it is connected
  versions int[] not null default '{}',
  -- By the name of a version that it could not serve: `why`, and `until` when it is not given runs of it, in milliseconds since 1970.
  unable jsonb not null default '{}',
  -- it takes no more attempts: somebody asked for it, or it stops
  draining boolean not null default false,
  -- somebody asked it to stop, or it does so by itself
  stopping boolean not null default false,
  connected_at timestamptz not null,
  heartbeat_at timestamptz not null default now(),
  -- its leases end then unless it sends a heartbeat
  expires_at timestamptz not null
);
create index runners_by_expiry on runners (expires_at);
create index runners_by_env on runners (env);

-- Every runner that ever connected, in a narrow row, as long as there may be a run that it had an attempt of.
create table runner_names (
  no int generated always as identity primary key,
  env int not null,
  runner_id text collate "C" not null,
  host text not null,
  pid int not null,
  -- it was connected then, give or take an hour
  last_seen_at timestamptz not null,
  -- The number of the last frame of lines of the runner that is stored. A frame that is sent again is not stored twice.
  logged bigint not null default 0,
  unique (env, runner_id)
);
