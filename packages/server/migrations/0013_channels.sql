-- Channels: ordered logs of records, numbered from 0 without a gap. The `.in` and `.out` of sessions are channels, and so are the
-- streams of runs. A record is durable before its number is told to anyone.

create table channels (
  -- the first 16 bytes of a digest over environment and name, so that whoever knows the name knows the id
  id uuid primary key,
  env int not null,
  name text collate "C" not null,
  -- the session it belongs to; null for the stream of a run
  session_id text collate "C",
  -- the number that the next record will have: the tail
  next_seq bigint not null default 0,
  -- records before this one were trimmed
  start_seq bigint not null default 0 check (start_seq between 0 and next_seq),
  -- time of the last record; times of one channel never go back
  last_at timestamptz,
  -- nothing is appended from then on. On the row that an append locks, so the two are ordered.
  closed_at timestamptz,
  expires_at timestamptz,
  -- writers that name another token are refused
  fence text,
  created_at timestamptz not null
  -- none of the columns that an append writes is in an index: its new version fits on the old one's page
) with (fillfactor = 50);
create index channels_by_session on channels (env, session_id) where session_id is not null;
create index channels_of_runs on channels (created_at) where session_id is null;

-- What one flush appended to one channel: a row for all of it, since a row a record costs twice as much.
create table channel_segments (
  channel uuid not null,
  -- number of its first record
  seq bigint not null,
  count int not null check (count > 0),
  bytes int not null,
  at timestamptz not null,
  -- JSON: [[body, part id or null, headers or null], …], trailing nulls left out
  records text not null,
  primary key (channel, seq)
);
-- Kept up to date as it grows: the duty of `session_look` reads its end, and a part that is not summed up is read whole.
create index channel_segments_by_time on channel_segments using brin (at) with (autosummarize = on);
-- Compressing what is written once and mostly sent from memory costs more than its bytes.
alter table channel_segments alter column records set storage external;

-- Appends that name a part id, while their records live: the same part again is the same records.
create table channel_parts (
  channel uuid not null,
  -- digest of the part id
  part uuid not null,
  seq bigint not null,
  count int not null,
  primary key (channel, part)
);

alter table channels set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);

-- Whoever deletes a channel deletes its log; a foreign key would cost every append a look at the channel.
create function drop_channel_logs() returns trigger language plpgsql as $$
begin
  delete from channel_segments s using gone g where s.channel = g.id;
  delete from channel_parts p using gone g where p.channel = g.id;
  return null;
end $$;
create trigger channel_logs after delete on channels referencing old table as gone
  for each statement execute function drop_channel_logs();

-- Appends to any number of channels. What is not as it must be concerns that channel alone: its state says why nothing of it was
-- written. A part that is known already is answered with its numbers, and its channel's other records are left to be sent again.
create function append_to_channels(
  asked_at timestamptz,
  -- one element a channel, in order of id
  of_ids uuid[], of_counts int[], of_matches bigint[], of_fences text[], of_new_fences text[],
  -- one a segment: the place of its channel above, its distance from the first record
  seg_places int[], seg_offsets int[], seg_counts int[], seg_bytes int[], seg_records text[],
  -- one a part
  part_places int[], part_offsets int[], part_counts int[], part_ids uuid[]
) returns table (place int, state text, seq bigint, at timestamptz, part int, count int)
language plpgsql volatile as $$
begin
  -- In one order everywhere. What follows sees what was committed before these locks were had.
  perform from channels c where c.id = any (of_ids) order by c.id for update;
  return query
  with known as (
    select q.ix, q.place, k.seq, k.count
      from unnest(part_places, part_ids) with ordinality as q (place, id, ix)
      join channel_parts k on k.channel = of_ids[q.place] and k.part = q.id
  ), judged as (
    select i.place::int as place, i.id, i.count, i.new_fence, c.next_seq, greatest(c.last_at, asked_at) as at,
           case when i.place in (select k.place from known k) then 'repeat'
                when c.id is null then 'missing'
                when c.closed_at is not null then 'closed'
                when c.expires_at <= asked_at then 'expired'
                when i.match <> c.next_seq then 'match'
                when i.fence <> coalesce(c.fence, '') then 'fence'
                else 'ok' end as state
      from unnest(of_ids, of_counts, of_matches, of_fences, of_new_fences) with ordinality
             as i (id, count, match, fence, new_fence, place)
      left join channels c on c.id = i.id
  ), moved as (
    update channels c
       set next_seq = c.next_seq + j.count, last_at = j.at, fence = coalesce(j.new_fence, c.fence)
      from judged j where j.state = 'ok' and c.id = j.id
  ), written as (
    insert into channel_segments (channel, seq, count, bytes, at, records)
    select j.id, j.next_seq + s.distance, s.count, s.bytes, j.at, s.records
      from unnest(seg_places, seg_offsets, seg_counts, seg_bytes, seg_records) as s (place, distance, count, bytes, records)
      join judged j on j.place = s.place and j.state = 'ok'
  ), noted as (
    insert into channel_parts (channel, part, seq, count)
    select j.id, q.id, j.next_seq + q.distance, q.count
      from unnest(part_places, part_offsets, part_counts, part_ids) as q (place, distance, count, id)
      join judged j on j.place = q.place and j.state = 'ok'
  )
  select j.place, j.state, j.next_seq, j.at, null::int, null::int from judged j
  union all
  select k.place, 'part', k.seq, null, k.ix::int, k.count from known k;
end $$;

create table sessions (
  env int not null,
  id text collate "C" not null,
  -- the client's own name for it; never changes
  external_id text collate "C" check (length(external_id) between 1 and 256),
  type text not null,
  task text not null,
  trigger_config jsonb not null,
  tags text[] not null default '{}',
  -- JSON text of an object
  metadata text,
  -- the run that serves it, or served it last
  run_id text collate "C",
  -- how far the last run had heard that left messages of `.in` to another one
  heard bigint,
  closed_at timestamptz,
  closed_reason text,
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (env, id),
  check (closed_at is not null or closed_reason is null)
) with (fillfactor = 80);
-- Until when appends were looked at for messages that no run was started for: one row.
create table session_look (until timestamptz not null);
insert into session_look values (now());
create unique index sessions_by_external_id on sessions (env, external_id) where external_id is not null;
create index sessions_by_type on sessions (env, type, id);
create index sessions_by_task on sessions (env, task, id);
create index sessions_by_tag on sessions using gin (tags);
-- For the duty that lets go of sessions that ended long ago.
create index sessions_by_close on sessions (closed_at) where closed_at is not null;
create index sessions_by_expiry on sessions (expires_at) where expires_at is not null;

-- The `.in` of a session by one of its names: the id that the server gives a channel of that name. The session need not be there yet.
create function session_messages(p_env int, p_session text) returns uuid language sql stable as $$
  select substr(encode(sha256(convert_to(p_env || '/s/in//' || coalesce(
           (select coalesce(s.external_id, s.id) from sessions s where s.env = p_env and s.id = p_session), p_session), 'UTF8')), 'hex'), 1, 32)::uuid
$$;
