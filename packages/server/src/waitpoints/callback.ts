/** The URL where a POST completes a token without a credential. Its last segment is a secret, which is sealed in the database. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { seal, unseal, type MasterKey } from '../auth/seal.ts';
import type { Queryable } from '../db/connect.ts';
import { notFound } from '../problem.ts';

const sealingContextOf = (id: string): string => `waitpoints:${id}`;

export const newCallback = (masterKey: MasterKey, id: string): Buffer =>
  seal(masterKey, randomBytes(30).toString('base64url'), sealingContextOf(id));

export interface Addressed {
  readonly id: string;
  /** Null for a token from before callbacks were sealed, which has none. */
  readonly sealed: Buffer | null;
}

/** The URL of a token's callback; without a callback, the URL where it is completed with a credential. */
export function addressOf(masterKey: MasterKey, { id, sealed }: Addressed, baseUrl: string): string {
  const token = `${baseUrl}/api/v1/waitpoints/tokens/${id}`;
  return sealed === null
    ? `${token}/complete`
    : `${token}/callback/${unseal(masterKey, sealed, sealingContextOf(id))}`;
}

/** Throws a 404 Problem unless the last segment of the URL is correct. */
export async function checkCallback(
  sql: Queryable,
  masterKey: MasterKey,
  id: string,
  hash: string,
): Promise<number> {
  const env = id.includes('\0') ? undefined : await environmentOfCallback(sql, masterKey, id, hash);
  if (env === undefined) throw notFound('Waitpoint not found');
  return env;
}

/** The environment of a token, if the last segment of the URL is correct. */
async function environmentOfCallback(
  sql: Queryable,
  masterKey: MasterKey,
  id: string,
  hash: string,
): Promise<number | undefined> {
  const [row] = await sql<
    { env: number; sealed: Buffer | null }[]
  >`select env, sealed from waitpoints where id = ${id}`;
  if (!row?.sealed) return undefined;
  const [known, provided] = [
    Buffer.from(unseal(masterKey, row.sealed, sealingContextOf(id))),
    Buffer.from(hash),
  ];
  return known.length === provided.length && timingSafeEqual(known, provided) ? row.env : undefined;
}
