-- The last sample of what waits and executes in the whole installation. One server process takes it at a time (telemetry/stats/sample.ts), and all of
-- them show it in their metrics, so that nobody counts waiting runs when metrics are read.
create table fleet_sample (
  only_row boolean primary key default true check (only_row),
  -- No process takes another sample before then.
  next_at timestamptz not null default '-infinity',
  taken_at timestamptz,
  sample jsonb
);
insert into fleet_sample default values;
