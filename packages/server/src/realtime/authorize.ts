import type { OperationDeclaration } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import type { Request } from '../request.ts';
import { authorizeRun } from '../runs/access/authorize.ts';
import { runsOfBatch, taggedRuns, type Subject } from './subject.ts';

type AuthorizingRequest = Pick<Request<OperationDeclaration>, 'environment' | 'authorize' | 'principal'>;

/** Authorizes a caller to see a run: by its id, its task, any of its tags or its batch. */
export async function authorizeRunById(
  sql: Queryable,
  request: AuthorizingRequest,
  id: string,
): Promise<void> {
  const [run] = await sql<{ task: string; tags: string[] | null; batch_id: string | null }[]>`
    select task, tags, batch_id from runs where env = ${request.environment.id} and id = ${id}`;
  if (!run) {
    // Unauthorized callers get the same response whether or not the run exists.
    request.authorize([{ type: 'runs', id }]);
    throw notFound('Not found', true, 'run_not_found');
  }
  authorizeRun(request, {
    id,
    taskIdentifier: run.task,
    tags: run.tags ?? [],
    ...(run.batch_id !== null && { batchId: run.batch_id }),
  });
}

/** The runs with all of the tags. A scope for one of the tags is sufficient, because every run of the subject has it. */
export function authorizeTags(
  request: AuthorizingRequest,
  tags: readonly string[],
  tasks: readonly string[],
  from: number,
): Subject {
  const byTag = tags.map((id) => ({ type: 'tags', id }));
  if (tasks.length === 0) request.authorize([{ type: 'runs' }, { type: 'tasks' }, ...byTag]);
  for (const id of tasks) request.authorize([{ type: 'runs' }, { type: 'tasks', id }, ...byTag]);
  return taggedRuns(request.environment.id, [...new Set(tags)], [...new Set(tasks)], from);
}

export async function authorizeBatch(
  sql: Queryable,
  request: AuthorizingRequest,
  id: string,
): Promise<Subject> {
  request.authorize([{ type: 'batch', id }, { type: 'runs' }]);
  const [batch] = await sql`select from batches where env = ${request.environment.id} and id = ${id}`;
  if (!batch) throw notFound('Not found', true);
  return runsOfBatch(request.environment.id, id);
}

/** The columns that the caller or its token omits. */
export function skippedColumns(
  { principal }: Pick<AuthorizingRequest, 'principal'>,
  skipped: readonly string[] = [],
): string[] {
  const byToken = principal.kind === 'publicToken' ? (principal.realtime?.skipColumns ?? []) : [];
  return [...skipped, ...byToken].toSorted();
}
