-- Spans of the code of runs. A row has the spans of one attempt that arrived together, as a JSON list: a row for each span would cost a
-- run with ten spans ten rows and ten index entries, and nobody looks for a single one.

create table run_spans (
  env int not null,
  run_id text collate "C" not null,
  id bigint generated always as identity,
  attempt int not null,
  -- when they arrived
  at timestamptz not null,
  trace_id text not null,
  -- how many spans the list has, and how many were dropped before it was sent
  count int not null,
  dropped int not null,
  -- bytes of the list
  size int not null,
  spans text not null,
  primary key (env, run_id, id)
);
create index run_spans_by_time on run_spans using brin (at);
