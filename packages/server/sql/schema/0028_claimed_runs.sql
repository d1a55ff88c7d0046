-- A claim replies since when a run has waited, and the trace context of the caller of its trigger. PostgreSQL does not replace a function with
-- another result, so the old one goes first.
alter type claimed_run add attribute sort_key bigint, add attribute traceparent text;
drop function if exists claim_runs(int, text, int[], int, int, int, timestamptz);
