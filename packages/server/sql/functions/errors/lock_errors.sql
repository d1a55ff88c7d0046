-- Serializes the transactions of an environment that count failures or change groups. Transactions that record failures do not take this lock.
--
-- Locks: the error lock of the environment (advisory), until the transaction ends.
-- Callers: errors/counts/compact.ts, errors/life/change.ts, errors/life/lapse.ts, runs/erase/erase-copies.ts, introduce_errors,
--          tally_errors.
create or replace function lock_errors(p_env int) returns void language sql as
$$ select pg_advisory_xact_lock(7144005, p_env) $$;
