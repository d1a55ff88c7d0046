-- Worker versions, which are also deployments; the tasks that each version declares; its files; and the runners that execute it.

create table versions (
  id int generated always as identity primary key,
  env int not null,
  public_id text collate "C" not null default 'deployment_' || replace(gen_random_uuid()::text, '-', ''),
  version text not null,
  -- deployment order within the environment
  sequence int not null,
  content_hash text not null,
  -- uploading: some of its files are missing; ready: it may become current; failed: it was abandoned; archived: its files are deleted
  state text not null default 'ready' check (state in ('uploading', 'ready', 'failed', 'archived')),
  -- false for a version that a runner registered from its folder
  is_uploaded boolean not null default false,
  -- the code in the form that runners fetch
  bundle jsonb,
  -- from the bundle: the properties that determine which runners can execute it
  node_major int,
  platforms text[] not null default '{}',
  requires text[] not null default '{}',
  -- compressed size of its files and layers
  bytes bigint not null default 0,
  node_version text,
  sdk_version text,
  git jsonb,
  message text,
  -- the latest id that the client sent; `external_ids` has the ids in effect
  external_id text,
  -- the name of a key, or a user; and the host
  deployed_by text,
  deployed_from text,
  -- the reason for the failure
  error jsonb,
  created_at timestamptz not null default now(),
  -- when its upload began or was resumed
  begun_at timestamptz,
  -- when the version first became current
  promoted_at timestamptz,
  unique (env, version),
  unique (env, sequence),
  constraint versions_by_public_id unique (public_id),
  constraint versions_uploading check (state <> 'uploading' or is_uploaded),
  constraint versions_bundle check (not is_uploaded or bundle is not null or state in ('failed', 'archived'))
);
create index versions_by_content on versions (env, content_hash);
-- The versions that fetching runners can receive: a small part of all versions.
create index versions_uploaded on versions (env, sequence) where is_uploaded and state = 'ready';
create index versions_uploading on versions (begun_at) where state = 'uploading';

-- During a canary, a share of the runs that are not bound to a version start on it, and the others on the current version.
create table current_versions (
  env int primary key,
  version_id int not null references versions,
  canary_id int references versions,
  -- the percentage of runs, chosen by `canary_share` of their ids
  canary_percent int check (canary_percent between 1 and 99),
  constraint current_versions_canary check ((canary_id is null) = (canary_percent is null) and canary_id <> version_id)
);

-- The deployment on which runs with an `externalDeploymentId` start. It is always ready.
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
  -- The JSON Schema of the payload, if the task's schema library could generate one. `json`, not `jsonb`, because forms use the order of
  -- properties.
  payload_schema json,
  -- a readable reason why a declared schema has none
  payload_schema_note text,
  primary key (version_id, id),
  constraint tasks_payload_schema check (payload_schema is null or payload_schema_note is null)
);

-- An object in an S3-compatible store. Its row exists from before the upload until after the deletion, so that no object is forgotten.
create table blob_objects (
  -- the key below the store's prefix; never reused, so that a late deletion cannot affect another object
  key text collate "C" primary key,
  created_at timestamptz not null,
  -- true if a blob refers to the object. An unused object is deleted an hour after its upload began.
  in_use boolean not null default false
);
create index blob_objects_unused on blob_objects (created_at) where not in_use;

-- Files and layers of deployments, compressed. A project stores each of them once. Pieces arrive in order. With an S3-compatible store, a
-- verified blob is moved into an object, and its pieces are deleted.
create table blobs (
  project_id int not null references projects on delete cascade,
  -- SHA-256 of the stored bytes
  digest text collate "C" not null,
  size bigint not null check (size > 0),
  -- number of bytes received, from the beginning
  received bigint not null default 0 check (received between 0 and size),
  -- SHA-256 and size of the content that was compressed; null until both digests were verified
  content_digest text collate "C",
  content_size bigint,
  -- the object that holds its bytes; null if they are in `blob_pieces`
  object_key text collate "C" references blob_objects,
  -- when a deployment last requested it
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
  -- offset of the first byte
  start bigint not null,
  data bytea not null,
  primary key (project_id, blob, start),
  foreign key (project_id, blob) references blobs on delete cascade
);
-- The data is already compressed.
alter table blob_pieces alter column data set storage external;

-- The blobs that a deployment needs. A failed or archived deployment needs none.
create table version_blobs (
  env int not null,
  version_id int not null references versions on delete cascade,
  project_id int not null,
  blob text collate "C" not null,
  -- the expected content digest. Two uploaders may compress the same content differently; finalizing chooses one.
  content_digest text collate "C" not null,
  primary key (version_id, blob)
);
create index version_blobs_by_blob on version_blobs (project_id, blob);

create table runners (
  id text collate "C" primary key,
  env int not null,
  -- key of `runner_names`
  no int,
  host text not null,
  pid int not null,
  -- the Millrace release that the runner reported when it connected; null if it reported none
  release text,
  -- null for a runner that does not fetch versions
  platform text,
  node_major int,
  labels text[] not null default '{}',
  -- concurrent attempts that it accepts, as reported when it connected
  slots int not null default 0,
  -- the current connection; the end of an older one is ignored
  connection text not null,
  -- the versions that it can execute while it is connected
  versions int[] not null default '{}',
  -- Versions that the runner could not serve, by name: the reason (`why`), and the time until which it receives no runs of the version
  -- (`until`, in milliseconds since 1970).
  unable jsonb not null default '{}',
  -- accepts no more attempts, by request or because it is stopping
  draining boolean not null default false,
  -- a stop was requested, or the runner is stopping on its own
  stopping boolean not null default false,
  connected_at timestamptz not null,
  heartbeat_at timestamptz not null default now(),
  -- its leases expire at this time unless it sends a heartbeat
  expires_at timestamptz not null
);
create index runners_by_expiry on runners (expires_at);
create index runners_by_env on runners (env);

-- Every runner that ever connected, in a narrow row that is retained as long as a run that it executed may exist.
create table runner_names (
  no int generated always as identity primary key,
  env int not null,
  runner_id text collate "C" not null,
  host text not null,
  pid int not null,
  -- last time it was connected, accurate to an hour
  last_seen_at timestamptz not null,
  -- The number of the runner's last stored frame of log lines, so that a frame that is resent is not stored twice.
  logged bigint not null default 0,
  unique (env, runner_id)
);
