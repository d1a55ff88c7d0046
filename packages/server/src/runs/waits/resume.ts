import type { AttemptWaited } from '@millrace/contract/runner';
import type { Sql } from '../../db/connect.ts';
import { retryOnConflict } from '../../db/retry.ts';
import type { ConnectedRunner, ConnectedRunners } from '../../runners/runners.ts';
import type { Engine } from '../engine/engine.ts';

/** Maximum runs of one statement. */
const maxResumed = 500;

export interface Resume {
  /** Suspended runs of this environment may be ready. Assigns slots to them and notifies their runners. */
  (env: number): void;
  stop(): Promise<void>;
}

interface ResumedRow {
  readonly fence: string;
  readonly runner_id: string;
  readonly suspension: string;
  readonly keys: string[];
}

/** Returns suspended runs to the runners that hold their code, one statement at a time in each environment. */
export function createResume(
  engine: Engine,
  sql: Sql,
  runners: ConnectedRunners,
  isPaused: () => boolean = () => false,
): Resume {
  const resuming = new Map<number, Promise<void>>();
  const again = new Set<number>();
  let stopped = false;

  const resumeReady = async (env: number): Promise<void> => {
    do {
      again.delete(env);
      const rows = await retryOnConflict(
        () => sql<ResumedRow[]>`
          select fence, runner_id, suspension, keys
            from resume_runs(${env}, ${new Date(engine.clock.now())}, ${maxResumed})`,
      );
      for (const [runner, attempts] of byRunner(rows)) {
        const connected = runners.get(runner);
        if (connected) connected.notifyWaited(attempts);
        else engine.wakes.notify({ kind: 'resumed', runner });
      }
      if (rows.length >= maxResumed) again.add(env);
    } while (again.has(env) && !stopped);
  };

  const resume = (env: number): void => {
    if (stopped || isPaused()) return;
    again.add(env);
    if (resuming.has(env)) return;
    const done = resumeReady(env)
      .catch((error: unknown) => {
        // The runs are still ready, and the promoter tries again.
        engine.log.warn('resume.failed', { env, error: String(error) });
      })
      .finally(() => {
        resuming.delete(env);
        // Another call may have arrived after the last read.
        if (again.has(env)) resume(env);
      });
    resuming.set(env, done);
  };

  return Object.assign(resume, {
    async stop() {
      stopped = true;
      await Promise.all(resuming.values());
    },
  });
}

function byRunner(rows: readonly ResumedRow[]): Map<string, AttemptWaited[]> {
  const grouped = new Map<string, AttemptWaited[]>();
  for (const { runner_id, fence, suspension, keys } of rows) {
    const attempt = { fence: Number(fence), state: 'resumed', suspension: Number(suspension), keys } as const;
    const others = grouped.get(runner_id);
    if (others) others.push(attempt);
    else grouped.set(runner_id, [attempt]);
  }
  return grouped;
}

/** Notifies a runner of attempts that it considers suspended although they have slots again, because the first message was lost. */
export async function notifyMissed(sql: Sql, runner: ConnectedRunner): Promise<void> {
  const suspended = [...runner.suspended];
  if (suspended.length === 0) return;
  const rows = await sql<{ fence: string; keys: string[] }[]>`
    select l.fence, array(select w.key from waits w
                           where w.env = l.env and w.run_id = l.run_id and w.attempt = l.attempt and w.over_at is not null) as keys
      from unnest(${suspended.map(([fence]) => runner.leased.get(fence)?.run ?? '')}::text[],
                  ${suspended.map(([fence]) => fence)}::bigint[]) as i (run_id, fence)
      cross join lateral (
        select x.* from leases x where x.env = ${runner.env} and x.run_id = i.run_id and x.fence = i.fence limit 1) l`;
  const suspensions = new Map(suspended);
  runner.notifyWaited(
    rows.map(({ fence, keys }) => ({
      fence: Number(fence),
      state: 'resumed',
      suspension: suspensions.get(Number(fence)) ?? null,
      keys,
    })),
  );
}
