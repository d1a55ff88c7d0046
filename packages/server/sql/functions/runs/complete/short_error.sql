-- The part of an error that `attempts` stores, or null for none. It is shortened because a run may have many attempts.
--
-- Locks: none.
-- Callers: runs/attempts/rows.ts, runs/timeline/read.ts, complete_attempts.
create or replace function short_error(p_error jsonb) returns jsonb language sql immutable parallel safe as
$$ select nullif(jsonb_strip_nulls(jsonb_build_object(
     'name', left(p_error ->> 'name', 200), 'message', left(p_error ->> 'message', 2048),
     'stackTrace', left(p_error ->> 'stackTrace', 8192),
     'sealed', case when length(p_error ->> 'sealed') <= 16384 then p_error ->> 'sealed' end)), '{}') $$;
