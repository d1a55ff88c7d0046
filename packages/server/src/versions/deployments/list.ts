import type { Operations, Query, Reply } from '@millrace/contract';
import { lastMoment, parseInstant } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { onwardPage } from '../../page.ts';
import { badRequest } from '../../problem.ts';
import type { StoredState } from './find.ts';
import { deploymentOf, readDeployments } from './show.ts';

type ListQuery = Query<Operations['listDeployments']>;

const statesOf: Readonly<Record<NonNullable<ListQuery['status']>, readonly StoredState[]>> = {
  PENDING: [],
  BUILDING: [],
  DEPLOYING: ['uploading'],
  DEPLOYED: ['ready', 'archived'],
  FAILED: ['failed'],
  CANCELED: [],
  TIMED_OUT: [],
};

/** A page of an environment's deployments, newest first. */
export async function listDeployments(
  sql: Queryable,
  env: number,
  query: ListQuery,
  now: number,
): Promise<Reply<Operations['listDeployments']>> {
  const size = query['page[size]'];
  const after = query['page[after]'];
  const { status } = query;
  const { from, to } = rangeOf(query, now);
  if (after?.includes('\0')) throw unknownPage(after);
  const [first] =
    after === undefined
      ? [{ sequence: null }]
      : await sql<{ sequence: number | null }[]>`
          select sequence from versions where env = ${env} and public_id = ${after}`;
  if (!first) throw unknownPage(after ?? '');
  const page = sql`
    select p.id from versions p
     where p.env = ${env} ${first.sequence === null ? sql`` : sql`and p.sequence < ${first.sequence}`}
       ${status === undefined ? sql`` : sql`and p.state = any (${statesOf[status]}::text[])`}
       ${from === undefined ? sql`` : sql`and p.created_at >= ${from}`} ${to === undefined ? sql`` : sql`and p.created_at <= ${to}`}
     order by p.sequence desc limit ${size + 1}`;
  const rows = await readDeployments(sql, env, page, new Date(now));
  const { page: items, pagination } = onwardPage(rows, size, (last) => last.publicId);
  return { data: items.map(deploymentOf), pagination };
}

const unknownPage = (after: string) =>
  badRequest(
    `page[after]: this environment has no deployment "${after.slice(0, 128)}"; send the cursor of a previous page.`,
  );

function rangeOf({ period, from, to }: ListQuery, now: number): { from?: Date; to?: Date } {
  if (period !== undefined) return { from: new Date(Math.max(0, now - period)) };
  return {
    ...(from !== undefined && { from: instantOf('from', from) }),
    ...(to !== undefined && { to: instantOf('to', to) }),
  };
}

function instantOf(field: string, text: string): Date {
  const date = parseInstant(text);
  if (date && date.getTime() >= 0 && date.getTime() <= lastMoment) return date;
  throw badRequest(`${field}: "${text.slice(0, 64)}" is not a date. Send one such as 2026-11-21T10:00:00Z.`);
}
