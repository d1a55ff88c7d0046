import type { Operations, Reply } from '@millrace/contract';
import type { Bundle } from '@millrace/contract/runner';
import type { Environment } from '../../auth/principal.ts';
import type { Sql } from '../../db/connect.ts';
import { notFound } from '../../problem.ts';
import { readBlob } from '../blobs/read.ts';
import { findVersion, type FoundVersion } from './find.ts';
import { fromStore } from '../store/problem.ts';
import { StoreFailed, type BlobStore } from '../store/store.ts';

/** The data that a runner fetches to serve a version. 404 with the reason if it cannot be fetched. */
export async function retrieveBundle(
  sql: Sql,
  env: number,
  idOrVersion: string,
): Promise<Reply<Operations['retrieveBundle']>> {
  const { id, version } = await findFetchable(sql, env, idOrVersion);
  const [row] = await sql<{ bundle: Bundle; contentHash: string }[]>`
    select bundle, content_hash as "contentHash" from versions where id = ${id} and state = 'ready'`;
  if (!row) throw notFound(`Version ${version} is archived, and its files were deleted.`);
  return { ...row.bundle, version, contentHash: row.contentHash };
}

export interface ServedBlob {
  readonly size: number;
  /** The bytes from a position, read lazily, piece by piece. Rejects with a 503 Problem if the store that holds them is unavailable. */
  read(start: number): Promise<AsyncIterable<Buffer>>;
}

/** A blob of a fetchable version. 404 if it does not exist. */
export async function retrieveBlob(
  { sql, store }: { readonly sql: Sql; readonly store?: BlobStore | undefined },
  { id: env, projectId: project }: Environment,
  idOrVersion: string,
  blob: string,
): Promise<ServedBlob> {
  const { id, version } = await findFetchable(sql, env, idOrVersion);
  const [row] = await sql<{ size: string; key: string | null }[]>`
    select b.size, b.object_key as key from version_blobs r join blobs b on b.project_id = r.project_id and b.digest = r.blob
     where r.version_id = ${id} and r.blob = ${blob}`;
  if (!row) throw notFound(`Version ${version} has no blob ${blob}.`);
  const size = Number(row.size);
  const { key } = row;
  return {
    size,
    async read(start) {
      if (key === null) return readBlob(sql, { project, blob }, size, start);
      if (!store)
        throw fromStore(
          new StoreFailed(
            'The blob is in an S3-compatible store, and this server has none (MILLRACE_BUNDLE_STORE)',
          ),
        );
      return store.read(key, start, size).catch((error: unknown) => {
        throw fromStore(error);
      });
    },
  };
}

async function findFetchable(
  sql: Sql,
  env: number,
  idOrVersion: string,
): Promise<{ readonly id: number; readonly version: string }> {
  const found = await findVersion(sql, env, idOrVersion);
  const reason = whyNotFetchable(found);
  if (reason !== undefined) throw notFound(reason);
  return found;
}

/** Why the server has no files of a version; undefined if it has them. */
export function whyNotFetchable({ version, state, isUploaded }: FoundVersion): string | undefined {
  if (!isUploaded) return `Version ${version} was not uploaded: only runners that have its folder serve it.`;
  return {
    ready: undefined,
    uploading: `Version ${version} is still being uploaded.`,
    failed: `The deployment of version ${version} failed.`,
    archived: `Version ${version} is archived, and its files were deleted.`,
  }[state];
}
