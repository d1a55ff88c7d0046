import type { DeclaredPath, OperationsOf } from '@millrace/contract';
import { recordHere } from '../../audit/record.ts';
import type { Queryable } from '../../db/connect.ts';
import { notFound } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import type { Engine } from '../engine/engine.ts';
import { declarePaths } from './declare.ts';

export const pathHandlers = ({
  sql,
  clock,
  paths,
}: Pick<Engine, 'sql' | 'clock' | 'paths'>): HandlersOf<OperationsOf<'runPaths'>> => ({
  async declareRunPath(request) {
    const { environment, body } = request;
    await sql.begin(async (tx) => {
      const [added] = await declarePaths(tx, environment.id, [body.path], clock.now(), 'path');
      if (added === undefined) return;
      await recordHere(environment, request)(tx, {
        act: 'runPath.created',
        target: body.path,
        new: { path: body.path },
      });
    });
    await paths.refresh();
    const [declared] = await readPaths(sql, environment.id, body.path);
    if (!declared) throw notFound('Path not found');
    return declared;
  },

  listRunPaths: async ({ environment }) => ({ data: await readPaths(sql, environment.id) }),

  async removeRunPath(request) {
    const { environment, params } = request;
    await sql.begin(async (tx) => {
      const { count } =
        await tx`delete from run_paths where env = ${environment.id} and path = ${params.path}`;
      if (count === 0) throw notFound('Path not found');
      await recordHere(environment, request)(tx, {
        act: 'runPath.deleted',
        target: params.path,
        old: { path: params.path },
      });
    });
    await paths.refresh();
    return { path: params.path };
  },
});

interface PathRow {
  readonly path: string;
  readonly created_at: Date;
  readonly backfilled_from: string | null;
  readonly backfilled_at: Date | null;
  readonly oldest: string | null;
}

async function readPaths(sql: Queryable, env: number, path?: string): Promise<DeclaredPath[]> {
  const rows = await sql<PathRow[]>`
    select p.path, p.created_at, p.backfilled_from, p.backfilled_at,
           (select r.id from runs r where r.env = p.env order by r.id limit 1) as oldest
      from run_paths p where p.env = ${env} and p.path = coalesce(${path ?? null}::text, p.path) order by p.id`;
  return rows.map((row) => ({
    path: row.path,
    createdAt: row.created_at.toISOString(),
    state: row.backfilled_at ? 'READY' : 'BACKFILLING',
    progress: row.backfilled_at ? 1 : progressOf(row),
  }));
}

/** The indexed share of the time between the oldest run and the declaration, by the times in the ids. */
function progressOf({ created_at, backfilled_from: from, oldest }: PathRow): number {
  if (from === null || oldest === null) return 0;
  const begin = timeOf(oldest);
  const whole = created_at.getTime() - begin;
  return whole <= 0
    ? 0
    : Math.min(0.99, Math.max(0, Math.round(((created_at.getTime() - timeOf(from)) / whole) * 100) / 100));
}

/** An id begins with its time, as eight base-36 digits. */
const timeOf = (id: string): number => parseInt(id.slice(4, 12), 36);
