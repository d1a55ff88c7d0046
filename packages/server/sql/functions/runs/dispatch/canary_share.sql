-- The bucket, one of 100 equal ones, that a run belongs to by its id alone: the first 32 bits of its MD5 as a number, modulo 100. A canary
-- of n percent gets the runs below n, so a run stays on the canary while the percentage grows.
--
-- Locks: none.
-- Callers: runs/reason/start-conditions.ts, take_runs.
create or replace function canary_share(p_run text) returns int language sql immutable parallel safe as
$$ select (('x' || left(md5(p_run), 8))::bit(32)::bigint % 100)::int $$;
