import type { Environment } from '../auth/principal.ts';
import type { Queryable } from '../db/connect.ts';
import { retryOnConflict } from '../db/retry.ts';
import type { Job } from '../jobs/job.ts';
import type { Timer } from '../jobs/timer.ts';
import type { NewRun } from '../runs/create/row.ts';
import { deliver, follow, prepareItems, type OutboxDependencies } from './deliver.ts';
import { environmentOfOutbox, lockOutbox, nextRows, finishRows } from './rows.ts';

export interface DrainerDependencies extends OutboxDependencies {
  readonly timer: Timer;
}

/**
 * The job that delivers the rows of the outbox in the server's own database, if there is one, in the transaction that creates their runs.
 * If a process dies in the middle, everything remains unchanged. A commit's notification wakes the job; otherwise it polls once a second.
 */
export const outboxDrainer = ({ timer, ...dependencies }: DrainerDependencies): Job => ({
  name: 'outbox drainer',
  everyMs: 1_000,
  timer,
  async tick() {
    const { engine } = dependencies;
    if (!(await hasOutbox(engine.sql))) return false;
    const created: NewRun[] = [];
    const count = await retryOnConflict(() => {
      created.length = 0;
      return engine.sql.begin(async (tx) => {
        if (!(await lockOutbox(tx))) return 0;
        const rows = await nextRows(tx);
        if (rows.length === 0) return 0;
        const environment = await outboxEnvironment(tx);
        const prepared = await prepareItems(dependencies, environment, rows);
        const delivery = await deliver(tx, engine, environment.id, prepared, { mayComeAgain: false });
        await finishRows(tx, delivery.results);
        created.push(...delivery.created);
        return rows.length;
      });
    });
    follow(dependencies, created);
    return count > 0;
  },
});

/** Whether this database has an outbox owned by this server's role. An outbox created by others could run their code as this role. */
export async function hasOutbox(sql: Queryable): Promise<boolean> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'millrace' and c.relname in ('outbox', 'outbox_settings') and c.relkind = 'r'
       and pg_get_userbyid(c.relowner) = current_user and pg_get_userbyid(n.nspowner) = current_user`;
  return row?.count === 2;
}

async function outboxEnvironment(tx: Queryable): Promise<Environment> {
  const publicId = (await environmentOfOutbox(tx)) ?? '';
  const [row] = await tx<{ environment: Environment }[]>`
    select json_build_object('id', e.id, 'publicId', e.public_id, 'kind', e.kind, 'branch', e.branch,
                             'projectId', e.project_id, 'projectRef', p.ref) as environment
      from environments e join projects p on p.id = e.project_id
     where e.public_id = ${publicId} and e.archived_at is null`;
  if (row) return row.environment;
  throw new Error(
    `millrace.outbox_settings names the environment "${publicId}", which does not exist or is archived. Update it to another one.`,
  );
}
