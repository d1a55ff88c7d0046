import type { Deployment } from '@millrace/contract';
import type { Bundle } from '@millrace/contract/runner';
import type { RecordHere } from '../../audit/record.ts';
import type { Environment } from '../../auth/principal.ts';
import type { Sql, Transaction } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import { lockVersions } from '../add.ts';
import { moveToStore } from '../blobs/move-to-store.ts';
import { BlobGone } from '../blobs/read.ts';
import { verifyBlob } from '../blobs/verify.ts';
import type { DeclaredBlob } from './check-bundle.ts';
import { landExternalId } from './external-id.ts';
import { markFailed } from './fail.ts';
import { findVersion, type FoundVersion } from './find.ts';
import { conflict } from './conflict.ts';
import type { DeploymentDependencies } from './promote.ts';
import { showDeployment } from './show.ts';
import { fromStore } from '../store/problem.ts';
import type { BlobStore } from '../store/store.ts';

export interface FinalizeDependencies extends DeploymentDependencies {
  /** Receives the blobs once they are verified. Without a store they remain in the database. */
  readonly store?: BlobStore | undefined;
}

/**
 * Ends an upload: verifies all content that has not been verified, and makes the version ready. It may be repeated after a failure in
 * between, and run by several callers at once. Content that differs from its declaration makes the deployment fail (422); missing content
 * does not (409).
 */
export async function finalizeDeployment(
  dependencies: FinalizeDependencies,
  { id: env, projectId: project }: Environment,
  idOrVersion: string,
  record: RecordHere,
): Promise<Deployment> {
  const { sql, log, clock, versions, wakes, store } = dependencies;
  const version = await findVersion(sql, env, idOrVersion);
  refuseEnded(version);
  if (version.state === 'uploading') {
    await verifyContents(sql, env, project, version);
    if (store) await storeBlobs(dependencies, store, project, version);
    const isReady = await sql.begin((tx) =>
      makeReady(tx, env, project, version, new Date(clock.now()), record),
    );
    versions.forget(env);
    wakes.notify({ kind: 'versions', env });
    if (isReady) log.info('version.uploaded', { env, version: version.version });
  }
  return showDeployment(sql, env, version, new Date(clock.now()));
}

function refuseEnded({ version, state, error }: FoundVersion): void {
  if (state === 'failed')
    throw conflict(
      'version_not_ready',
      `The deployment of version ${version} failed (${error?.message ?? 'it was abandoned'}). Create it again.`,
    );
  if (state === 'archived')
    throw conflict('version_not_ready', `Version ${version} is archived. Create a new deployment.`);
}

interface UploadedBlob {
  readonly blob: string;
  readonly declared: string;
  readonly size: string | null;
  readonly received: string | null;
  /** Null until it is verified. */
  readonly content: string | null;
  readonly contentSize: string | null;
}

const readBlobs = (sql: Sql | Transaction, project: number, version: number): Promise<UploadedBlob[]> =>
  sql<UploadedBlob[]>`
    select r.blob, r.content_digest as declared, b.size, b.received, b.content_digest as content, b.content_size as "contentSize"
      from version_blobs r left join blobs b on b.project_id = ${project} and b.digest = r.blob
     where r.version_id = ${version} order by r.blob`;

async function readBundle(sql: Sql | Transaction, version: number): Promise<Bundle | undefined> {
  const [row] = await sql<{ bundle: Bundle | null }[]>`select bundle from versions where id = ${version}`;
  return row?.bundle ?? undefined;
}

/** The contents of a bundle, with their positions in it. */
const contentsIn = ({ files, layers }: Bundle): Map<string, DeclaredBlob & { readonly where: string }> => {
  const all = [
    ...files.map((file) => ({ ...file, where: file.path })),
    ...layers.map((layer) => ({ ...layer, where: `the layer for ${layer.platform}` })),
  ];
  return new Map(all.map((content) => [content.digest, content]));
};

const isComplete = ({ size, received }: UploadedBlob): boolean => size !== null && size === received;

async function verifyContents(sql: Sql, env: number, project: number, version: FoundVersion): Promise<void> {
  const bundle = await readBundle(sql, version.id);
  // It has failed or become ready since then; the caller detects that.
  if (!bundle) return;
  const contents = contentsIn(bundle);
  const blobs = await readBlobs(sql, project, version.id);
  const complete = blobs.filter(isComplete);
  const there = new Set(complete.map(({ declared }) => declared));
  const missing = blobs
    .filter(({ declared }) => !there.has(declared))
    .map(({ blob, received }) => ({ blob, received: Number(received ?? 0) }));
  if (missing.length > 0) {
    throw conflict(
      'blob_missing',
      `Version ${version.version} lacks ${missing.length} of its ${contents.size} contents. Create the deployment again to list them, upload them, then finalize it.`,
      { missing: missing.slice(0, 1_000) },
    );
  }
  for (const uploaded of complete) {
    const content = contents.get(uploaded.declared);
    if (!content) continue;
    const wrong = await wrongWith(sql, project, uploaded, content);
    if (wrong === undefined) continue;
    const message = `${content.where}: ${wrong}`;
    await sql.begin(async (tx) => {
      await lockVersions(tx, env);
      await markFailed(tx, version.id, { name: 'VerificationError', message });
    });
    throw unprocessable(
      `${message}. The deployment of version ${version.version} has failed. Create it again.`,
    );
  }
}

async function wrongWith(
  sql: Sql,
  project: number,
  { blob, size, content, contentSize }: UploadedBlob,
  expected: DeclaredBlob,
): Promise<string | undefined> {
  if (content !== null) {
    if (content !== expected.digest) return 'its blob has different content';
    return Number(contentSize) === expected.size
      ? undefined
      : `it has ${contentSize} bytes, but ${expected.size} were declared`;
  }
  let wrong: string | undefined;
  try {
    wrong = await verifyBlob(sql, { project, blob }, Number(size), expected);
  } catch (error) {
    if (!(error instanceof BlobGone)) throw error;
    // Another deployment has verified it and moved it to the store, or it is no longer needed.
    const [now] = await sql<Pick<UploadedBlob, 'content' | 'contentSize'>[]>`
      select content_digest as content, content_size as "contentSize" from blobs where project_id = ${project} and digest = ${blob}`;
    if (!now || now.content === null) throw lost(expected.blob);
    return wrongWith(
      sql,
      project,
      { blob, size, received: size, declared: expected.digest, ...now },
      expected,
    );
  }
  // The blob is useless for any deployment.
  if (wrong !== undefined)
    await sql`delete from blobs where project_id = ${project} and digest = ${blob} and content_digest is null`;
  return wrong;
}

const lost = (blob: string) =>
  conflict(
    'blob_missing',
    `The blob ${blob} has been removed in the meantime. Create the deployment again, and upload it.`,
  );

/** How many blobs are moved to the store concurrently. */
const movedAtOnce = 8;

/** Moves the blobs of a version to the store, including those that were in the database before a store was configured. */
async function storeBlobs(
  { sql, clock }: FinalizeDependencies,
  store: BlobStore,
  project: number,
  version: FoundVersion,
): Promise<void> {
  const queue = (await readBlobs(sql, project, version.id)).filter(({ content }) => content !== null);
  const move = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift())
      await moveToStore(sql, clock, store, { project, blob: next.blob });
  };
  await Promise.all(Array.from({ length: movedAtOnce }, move)).catch((error: unknown) => {
    queue.length = 0;
    throw fromStore(error);
  });
}

/** False if it was made ready before. */
async function makeReady(
  tx: Transaction,
  env: number,
  project: number,
  { id, version }: FoundVersion,
  at: Date,
  record: RecordHere,
): Promise<boolean> {
  await lockVersions(tx, env);
  const now = await findVersion(tx, env, version);
  refuseEnded(now);
  if (now.state === 'ready') return false;
  const bundle = await readBundle(tx, id);
  if (!bundle) throw new Error('an uploading version has no bundle');
  const verified = new Map<string, UploadedBlob>();
  for (const blob of await readBlobs(tx, project, id))
    if (blob.content === blob.declared && !verified.has(blob.declared)) verified.set(blob.declared, blob);
  const served = <C extends DeclaredBlob>(content: C): C => {
    const blob = verified.get(content.digest);
    if (!blob)
      throw conflict(
        'blob_missing',
        `Version ${version} has lost a blob in the meantime. Create the deployment again, and upload it.`,
      );
    return { ...content, blob: blob.blob, blobSize: Number(blob.size) };
  };
  const ready: Bundle = { ...bundle, files: bundle.files.map(served), layers: bundle.layers.map(served) };
  const used = [...verified.values()];
  const bytes = used.reduce((sum, { size }) => sum + Number(size), 0);
  const [row] = await tx<{ external_id: string | null; tasks: number; message: string | null }[]>`
    update versions set state = 'ready', bundle = ${JSON.stringify(ready)}::jsonb, bytes = ${bytes} where id = ${id}
    returning external_id, message, (select count(*)::int from tasks where version_id = ${id}) as tasks`;
  await tx`
    delete from version_blobs where version_id = ${id} and not blob = any (${used.map(({ blob }) => blob)}::text[])`;
  if (row?.external_id) await landExternalId(tx, env, id, row.external_id, at);
  await record(tx, {
    act: 'version.uploaded',
    target: version,
    new: { version, tasks: row?.tasks, bytes, message: row?.message ?? undefined },
  });
  return true;
}
