-- A claim replies what a run is a replay of, its idempotency key and its region. PostgreSQL does not replace a function with another result,
-- so the old one goes first.
alter type claimed_run add attribute replay_of text, add attribute idempotency_key text, add attribute idempotency_key_options jsonb,
  add attribute region text;
drop function if exists claim_runs(int, text, int[], int, int, int, timestamptz);
