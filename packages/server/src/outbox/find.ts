import type { Queryable } from '../db/connect.ts';
import { notFound, type Problem } from '../problem.ts';
import { findDelivered } from './deliver.ts';
import { hasOutbox } from './drainer.ts';

/** The outcome of a transaction's trigger that has no run with its id: the run it resolved to, or why there is none yet. */
export async function findTriggered(
  sql: Queryable,
  environment: { readonly id: number; readonly publicId: string },
  id: string,
): Promise<{ readonly run: string } | { readonly problem: Problem } | undefined> {
  const [delivered] = await findDelivered(sql, environment.id, [id]);
  if (delivered) return { run: delivered.run };
  if (!(await hasOutbox(sql))) return undefined;
  const [row] = await sql<{ error: string | null }[]>`
    select o.error from millrace.outbox o join millrace.outbox_settings s on s.environment = ${environment.publicId} where o.id = ${id}`;
  if (!row) return undefined;
  return {
    problem:
      row.error === null
        ? notFound('A transaction triggered this run, but it has not been created yet. Try again.', true)
        : notFound(
            `A transaction triggered this run, but it cannot be created: ${row.error.replace(/\.$/, '')}. The row remains in millrace.outbox.`,
          ),
  };
}
