-- Payloads and outputs that are too large to travel with their run: it names them and says `application/store`.
create table packets (
  id bigint generated always as identity primary key,
  env int not null,
  -- null while it is uploaded
  name text collate "C",
  content_type text not null,
  bytes int not null default 0,
  created_at timestamptz not null,
  -- when a run last came to name it, or it was uploaded: one that no run names is let go of some time after
  used_at timestamptz not null,
  unique (env, name)
);
create index packets_by_use on packets (used_at);

-- In pieces, so that neither side ever holds all of one.
create table packet_pieces (
  packet_id bigint not null references packets on delete cascade,
  ix int not null,
  data bytea not null,
  primary key (packet_id, ix)
);
-- What comes in is rarely text that shrinks much, and is read once or twice: not worth the time.
alter table packet_pieces alter column data set storage external;

-- Which runs name a packet. Hardly any do, so these cost the others nothing.
create index runs_by_stored_payload on runs (env, payload) where payload_type = 'application/store';
create index runs_by_stored_output on runs (env, output) where output_type = 'application/store';
