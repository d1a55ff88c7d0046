import type { Environment } from '../../auth/principal.ts';
import type { Sql } from '../../db/connect.ts';
import { notFound, Problem, unprocessable } from '../../problem.ts';
import { appendToBlob, blobProgress, piecesOf } from '../blobs/append.ts';
import { findVersion, type FoundVersion } from './find.ts';
import { conflict } from './conflict.ts';

export interface BlobUpload {
  readonly deployment: string;
  readonly blob: string;
  /** The offset of the first byte that is sent. */
  readonly offset: number;
}

/**
 * Stores the bytes sent for a blob, piece by piece, so that received bytes remain if the connection ends. Sending stored bytes again has no
 * effect. Returns the number of stored bytes of the blob.
 */
export async function uploadBlob(
  sql: Sql,
  { id: env, projectId: project }: Environment,
  { deployment, blob, offset }: BlobUpload,
  body: AsyncIterable<Uint8Array>,
): Promise<number> {
  const version = await findVersion(sql, env, deployment);
  refuseOthers(version);
  const key = { project, blob };
  const [requested] =
    await sql`select from version_blobs where version_id = ${version.id} and blob = ${blob}`;
  const known = requested && (await blobProgress(sql, key));
  if (!known) throw notFound(`The deployment of version ${version.version} has no blob ${blob}.`);
  let { received } = known;
  if (received === known.size) return received;
  if (offset > received) throw gap(blob, received);
  let at = offset;
  for await (const bytes of piecesOf(body)) {
    if (at + bytes.length > known.size) {
      throw unprocessable(`The blob ${blob} was declared with ${known.size} bytes, but more were sent.`);
    }
    const now = await appendToBlob(sql, key, at, bytes);
    if (!now)
      throw conflict(
        'blob_missing',
        `The blob ${blob} has been removed in the meantime. Create the deployment again.`,
      );
    at += bytes.length;
    received = now.received;
    if (received < at) throw gap(blob, received);
  }
  return received;
}

/** The client may continue from `received`. */
const gap = (blob: string, received: number) =>
  new Problem('blob_offset', `The blob ${blob} has ${received} bytes. Continue with offset=${received}.`, {
    received,
  });

function refuseOthers({ version, state, error }: FoundVersion): void {
  if (state === 'failed')
    throw conflict(
      'version_not_ready',
      `The deployment of version ${version} failed (${error?.message ?? 'it was abandoned'}). Create it again.`,
    );
  if (state === 'archived')
    throw conflict('version_not_ready', `Version ${version} is archived. Create a new deployment.`);
}
