-- Serializes the claims in one environment. A transaction that frees a slot of a limited queue takes this lock as well.
--
-- Locks: the claim lock of the environment (advisory), until the transaction ends.
-- Callers: queues/change.ts, queues/concurrency.ts, queues/shared-limits.ts, versions/queues.ts, claim_scope, lock_limited, release_rate_limited, resume_runs.
create or replace function claim_lock(p_env int) returns void language sql as
$$ select pg_advisory_xact_lock(7144002, p_env) $$;
