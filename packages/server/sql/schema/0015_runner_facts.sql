-- What decides which versions a runner may be given runs of, and what somebody asked of it.

alter table runners
  -- null for a runner that does not fetch versions
  add column platform text,
  add column node_major int,
  add column labels text[] not null default '{}',
  -- attempts that it accepts at once, as it said when it connected
  add column slots int not null default 0,
  -- it takes no more attempts: somebody asked for it, or it stops
  add column draining boolean not null default false,
  -- somebody asked it to stop, or it does so by itself
  add column stopping boolean not null default false,
  add column heartbeat_at timestamptz not null default now(),
  -- By the name of a version that it could not serve: `why`, and `until` when it is not given runs of it, in milliseconds since 1970.
  add column unable jsonb not null default '{}';
