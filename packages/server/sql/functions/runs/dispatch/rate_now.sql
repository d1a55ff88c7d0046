-- The clock of limits of rate: the database's, so that all servers agree. A claim reads it under the claim lock.
--
-- Locks: none.
-- Callers: none.
create or replace function rate_now() returns timestamptz language sql volatile as
$$ select clock_timestamp() $$;
