import type { OperationDeclaration } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import type { Request } from '../request.ts';
import { authorizeRun } from '../runs/authorize.ts';
import { runsOfBatch, taggedRuns, type Subject } from './subject.ts';

type Asking = Pick<Request<OperationDeclaration>, 'environment' | 'authorize' | 'principal'>;

/** Lets a caller in who may see the run: by its id, its task, any of its tags or its batch. */
export async function findRun(sql: Queryable, request: Asking, id: string): Promise<void> {
  const [run] = await sql<{ task: string; tags: string[] | null; batch_id: string | null }[]>`
    select task, tags, batch_id from runs where env = ${request.environment.id} and id = ${id}`;
  if (!run) {
    // Who may not see it is told the same whether it exists or not.
    request.authorize([{ type: 'runs', id }]);
    throw notFound('Not found', true);
  }
  authorizeRun(request, {
    id,
    taskIdentifier: run.task,
    tags: run.tags ?? [],
    ...(run.batch_id !== null && { batchId: run.batch_id }),
  });
}

/** The runs with all of the tags. Who may read one of the tags may: every run that is told has it. */
export function reachTags(
  request: Asking,
  tags: readonly string[],
  tasks: readonly string[],
  from: number,
): Subject {
  const byTag = tags.map((id) => ({ type: 'tags', id }));
  if (tasks.length === 0) request.authorize([{ type: 'runs' }, { type: 'tasks' }, ...byTag]);
  for (const id of tasks) request.authorize([{ type: 'runs' }, { type: 'tasks', id }, ...byTag]);
  return taggedRuns(request.environment.id, [...new Set(tags)], [...new Set(tasks)], from);
}

export async function reachBatch(sql: Queryable, request: Asking, id: string): Promise<Subject> {
  request.authorize([{ type: 'batch', id }, { type: 'runs' }]);
  const [batch] = await sql`select from batches where env = ${request.environment.id} and id = ${id}`;
  if (!batch) throw notFound('Not found', true);
  return runsOfBatch(request.environment.id, id);
}

/** Columns that the caller left out, or whose token leaves them out. */
export function withoutColumns(
  { principal }: Pick<Asking, 'principal'>,
  skipped: readonly string[] = [],
): string[] {
  const byToken = principal.kind === 'publicToken' ? (principal.realtime?.skipColumns ?? []) : [];
  return [...skipped, ...byToken].toSorted();
}
