import { databaseNow } from '../../db/clock.ts';
import type { Engine } from '../engine/engine.ts';
import type { LeaseTimes } from './connection-state.ts';
import type { RunnerRequests } from './apply-requests.ts';

/**
 * Extends the leases of a runner by the database's clock, against which `is_lease_over` compares them. Returns the requests to the runner;
 * undefined if it was considered lost or has a newer connection.
 */
export async function extendLease(
  engine: Pick<Engine, 'sql' | 'clock'>,
  runner: string,
  connection: string,
  { leaseMs }: Pick<LeaseTimes, 'leaseMs'>,
): Promise<RunnerRequests | undefined> {
  const [row] = await engine.sql<RunnerRequests[]>`
    update runners set expires_at = n.at + ${leaseMs}::float8 * interval '1 millisecond', heartbeat_at = n.at
      from (select ${databaseNow(engine)} as at) n
     where id = ${runner} and connection = ${connection} returning draining, stopping`;
  return row;
}
