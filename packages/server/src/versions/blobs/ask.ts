import type { Transaction } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import type { DeclaredBlob } from '../deployments/check-bundle.ts';

export interface MissingBlob {
  readonly blob: string;
  /** Number of bytes received. */
  readonly received: number;
}

interface BlobRow {
  readonly digest: string;
  readonly size: string;
  readonly received: string;
  readonly contentDigest: string | null;
}

/**
 * Records the contents that a version needs, and returns the blobs to be uploaded, with the progress of each. Content that already exists
 * is not requested, regardless of its compression. Runs in the caller's transaction.
 */
export async function askForBlobs(
  tx: Transaction,
  to: { readonly env: number; readonly project: number; readonly version: number },
  contents: readonly DeclaredBlob[],
  at: Date,
): Promise<MissingBlob[]> {
  // In one global order. Recently requested content is not deleted for an hour.
  const known = await tx<{ digest: string; contentDigest: string }[]>`
    update blobs b set used_at = ${at}
      from (select x.digest from blobs x
             where x.project_id = ${to.project} and x.content_digest = any (${contents.map(({ digest }) => digest)}::text[])
             order by x.digest for update) k
     where b.project_id = ${to.project} and b.digest = k.digest
    returning b.digest, b.content_digest as "contentDigest"`;
  const blobOf = new Map(known.map((row) => [row.contentDigest, row.digest]));
  const others = contents
    .filter(({ digest }) => !blobOf.has(digest))
    .toSorted((a, b) => (a.blob < b.blob ? -1 : 1));
  const rows = await tx<BlobRow[]>`
    insert into blobs as b (project_id, digest, size, used_at)
    select ${to.project}, i.blob, i.size, ${at}
      from unnest(${others.map(({ blob }) => blob)}::text[], ${others.map(({ blobSize }) => blobSize)}::bigint[]) as i (blob, size)
    on conflict (project_id, digest) do update set used_at = excluded.used_at
    returning digest, size, received, content_digest as "contentDigest"`;
  const stored = new Map(rows.map((row) => [row.digest, row]));
  const missing: MissingBlob[] = [];
  for (const content of others) {
    const row = stored.get(content.blob);
    if (!row) throw new Error('a blob was not inserted');
    const received = await agree(tx, to.project, content, row);
    if (received < content.blobSize) missing.push({ blob: content.blob, received });
  }
  await tx`
    insert into version_blobs (env, version_id, project_id, blob, content_digest)
    select ${to.env}, ${to.version}, ${to.project}, i.blob, i.digest
      from unnest(${contents.map(({ digest, blob }) => blobOf.get(digest) ?? blob)}::text[],
                  ${contents.map(({ digest }) => digest)}::text[]) as i (blob, digest)
    on conflict do nothing`;
  return missing;
}

/** The progress of a blob. An unverified blob that was begun with a different size starts over. */
async function agree(
  tx: Transaction,
  project: number,
  { blob, blobSize, digest }: DeclaredBlob,
  row: BlobRow,
): Promise<number> {
  // Another deployment has verified it since the first read.
  if (row.contentDigest === digest) return blobSize;
  if (row.contentDigest !== null)
    throw unprocessable(`bundle: the blob ${blob} has the content ${row.contentDigest}, not ${digest}.`);
  if (Number(row.size) === blobSize) return Number(row.received);
  await tx`delete from blob_pieces where project_id = ${project} and blob = ${blob}`;
  await tx`update blobs set size = ${blobSize}, received = 0 where project_id = ${project} and digest = ${blob}`;
  return 0;
}
