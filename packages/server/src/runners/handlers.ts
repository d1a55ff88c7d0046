import type { OperationsOf, RunnerInfo } from '@millrace/contract';
import { recordHere, type RecordHere } from '../audit/record.ts';
import type { Clock } from '../db/clock.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import type { Wakes } from '../db/wake.ts';
import { notFound } from '../problem.ts';
import type { HandlersOf } from '../request.ts';
import type { ConnectedRunner, ConnectedRunners } from './runners.ts';

export interface RunnerHandlerDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly wakes: Pick<Wakes, 'notify'>;
  readonly runners: ConnectedRunners;
  /** Applies the requested state in the row of a runner that is connected to this process. */
  readonly requestsChanged: (runner: ConnectedRunner) => Promise<void>;
}

/** Runners of all server processes: requests are stored in the runner's row, and the process that has its connection is notified. */
export function runnerHandlers({
  sql,
  clock,
  wakes,
  runners,
  requestsChanged,
}: RunnerHandlerDependencies): HandlersOf<OperationsOf<'runners'>> {
  const notify = async (runner: string): Promise<void> => {
    const connected = runners.get(runner);
    if (connected) await requestsChanged(connected);
    else wakes.notify({ kind: 'runner', runner });
  };
  const change = async (
    env: number,
    runner: string,
    record: RecordHere,
    act: 'runner.drained' | 'runner.resumed' | 'runner.stopped',
  ): Promise<RunnerInfo> => {
    const updated = await sql.begin(async (tx) => {
      const [before] = await tx<{ host: string; draining: boolean; stopping: boolean }[]>`
        select host, draining, stopping from runners
         where env = ${env} and id = ${runner} and expires_at > ${new Date(clock.now())} for update`;
      if (!before) throw notFound(`No runner ${runner} is connected in this environment.`);
      const stopping = before.stopping || act === 'runner.stopped';
      // A stopping runner accepts no more attempts, regardless of the request.
      const draining = stopping || act === 'runner.drained';
      if (stopping !== before.stopping || draining !== before.draining) {
        await tx`update runners set draining = ${draining}, stopping = ${stopping} where id = ${runner}`;
        await record(tx, { act, target: runner, new: { host: before.host } });
      }
      const [info] = await read(tx, env, clock.now(), runner);
      if (!info) throw new Error('locked runner not found');
      return info;
    });
    await notify(runner);
    return updated;
  };

  return {
    async listRunners({ environment }) {
      return { data: await read(sql, environment.id, clock.now()) };
    },

    drainRunner(request) {
      const { environment, params, body } = request;
      const act = (body?.draining ?? true) ? 'runner.drained' : 'runner.resumed';
      return change(environment.id, params.runnerId, recordHere(environment, request), act);
    },

    stopRunner(request) {
      const { environment, params } = request;
      return change(environment.id, params.runnerId, recordHere(environment, request), 'runner.stopped');
    },
  };
}

interface RunnerRow extends Omit<RunnerInfo, 'connectedAt' | 'lastHeartbeatAt'> {
  readonly connectedAt: Date;
  readonly lastHeartbeatAt: Date;
}

/** The connected runners of an environment, newest first, or one of them. */
async function read(sql: Queryable, env: number, now: number, runner?: string): Promise<RunnerInfo[]> {
  const rows = await sql<RunnerRow[]>`
    select r.id, r.host, r.pid, r.platform, r.node_major as "nodeMajor", r.labels, r.slots, r.draining,
           array(select v.version from versions v where v.id = any (r.versions) order by v.sequence desc) as versions,
           coalesce(l.count, 0) as running, r.connected_at as "connectedAt", r.heartbeat_at as "lastHeartbeatAt"
      from runners r
      left join (select x.runner_id, count(*)::int as count from leases x where x.env = ${env} group by 1) l on l.runner_id = r.id
     where r.env = ${env} and r.expires_at > ${new Date(now)} and (${runner ?? null}::text is null or r.id = ${runner ?? null})
     order by r.connected_at desc, r.id`;
  return rows.map((row) => ({
    ...row,
    connectedAt: row.connectedAt.toISOString(),
    lastHeartbeatAt: row.lastHeartbeatAt.toISOString(),
  }));
}
