import type { Queryable } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import type { Identity, Request } from '../request.ts';
import type { SessionRow } from './row.ts';

/** Finds a session by id or external id. An address that begins with `session_` is an id. */
export async function findSession(
  sql: Queryable,
  env: number,
  address: string,
): Promise<SessionRow | undefined> {
  if (!isStorable(address)) return undefined;
  const [row] = isSessionId(address)
    ? await sql<SessionRow[]>`select * from sessions where env = ${env} and id = ${address}`
    : await sql<SessionRow[]>`select * from sessions where env = ${env} and external_id = ${address}`;
  return row;
}

export const isSessionId = (address: string): boolean => address.startsWith('session_');

const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

/** Both names of a session: a token for one of them is valid for both. */
export const identitiesOf = ({ id, externalId }: { id: string; externalId: string | null }): Identity[] => [
  { type: 'sessions', id },
  ...(externalId === null ? [] : [{ type: 'sessions', id: externalId }]),
];

/** Finds the session named by a request and authorizes the request; rejects with 403 or 404. */
export async function authorizeSession(
  sql: Queryable,
  request: Pick<Request<never>, 'environment' | 'authorize'>,
  address: string,
  missing = 'Session not found',
): Promise<SessionRow> {
  const row = await findSession(sql, request.environment.id, address);
  if (!row) throw notFound(missing);
  request.authorize(identitiesOf({ id: row.id, externalId: row.external_id }));
  return row;
}
