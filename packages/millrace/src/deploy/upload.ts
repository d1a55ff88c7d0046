import { hostname } from 'node:os';
import type { Operations, Reply } from '@millrace/contract';
import { inParallel } from '@millrace/platform';
import { ServerRefused } from '../api/errors.ts';
import { callServer, isTransient, retried, sendBlob, type DeployTarget } from './client.ts';
import type { GitInfo } from './git.ts';
import type { Prepared } from './prepare.ts';

/** User-supplied notes about a deployment. */
export interface DeploymentNotes {
  readonly message?: string | undefined;
  readonly externalId?: string | undefined;
  readonly git?: GitInfo | undefined;
}

export interface UploadProgress {
  readonly sentBytes: number;
  readonly totalBytes: number;
}

/** A deployment with all its files on the server. */
export interface Uploaded {
  readonly id: string;
  readonly version: string;
  /** False if the same content was deployed before. */
  readonly isNew: boolean;
  /** Number of sent bytes. */
  readonly sentBytes: number;
  readonly files: number;
}

type Created = Reply<Operations['createDeployment']>;

const parallel = 6;
const maxUploads = 5;

/**
 * Creates a deployment, sends the files that the server lacks and finalizes it. Interrupted transfers continue at the byte that the server has
 * received. `onCreated` is called as soon as the deployment could be abandoned.
 */
export async function upload(
  target: DeployTarget,
  { bundle, tasks, sdkVersion, blobs }: Prepared,
  notes: DeploymentNotes,
  onCreated: (created: Created) => void = () => {},
  onProgress: (progress: UploadProgress) => void = () => {},
): Promise<Uploaded> {
  const body = {
    bundle,
    tasks,
    nodeVersion: process.versions.node,
    sdkVersion,
    ...notes,
    host: hostname().slice(0, 255),
  };
  // The same content is the same deployment, so a repeated call returns it with its currently missing files.
  const create = (): Promise<Created> => callServer(target, 'createDeployment', { body });
  const first = await create();
  onCreated(first);
  const { id, version, isNew } = first;
  const sizeOf = (blob: string): number => blobs.get(blob)?.size ?? 0;
  const totalBytes = first.missing.reduce((sum, { blob, received }) => sum + sizeOf(blob) - received, 0);
  let sentBytes = 0;
  const onSent = (bytes: number): void => {
    sentBytes += bytes;
    onProgress({ sentBytes: Math.min(sentBytes, totalBytes), totalBytes });
  };
  let current = first;
  for (let attempt = 1; current.missing.length > 0; attempt += 1) {
    const failure = await sendAll(target, current, blobs, onSent);
    if (failure !== undefined && (attempt === maxUploads || !mayGoOn(failure))) throw failure;
    current = await create();
    if (failure === undefined && current.missing.length > 0 && attempt === maxUploads)
      throw new Error(`The server still lacks ${current.missing.length} files of ${version}: deploy again.`);
  }
  if (current.state === 'uploading') await finalize(target, current.id);
  return { id, version, isNew, sentBytes, files: first.missing.length };
}

/** Sends all missing blobs, several at a time. Returns the first failure. */
async function sendAll(
  target: DeployTarget,
  { id, missing }: Created,
  blobs: Prepared['blobs'],
  onSent: (bytes: number) => void,
): Promise<unknown> {
  const failure = await inParallel(missing, parallel, async ({ blob: name, received }) => {
    const blob = blobs.get(name);
    if (!blob) throw new Error(`The server requested a file that is not in this bundle (${name}).`);
    await sendBlob(target, id, blob, received, onSent);
  }).catch((error: unknown) => error);
  target.signal?.throwIfAborted();
  return failure;
}

/** After a lost connection, or when another process uploads or finalizes the same content. */
const mayGoOn = (failure: unknown): boolean =>
  isTransient(failure) || (failure instanceof ServerRefused && failure.status === 409);

/** If the first response was lost, a repeated call is rejected by a server that has already finalized the deployment. */
async function finalize(target: DeployTarget, deploymentId: string): Promise<void> {
  await retried(target, async () => {
    try {
      await callServer(target, 'finalizeDeployment', { params: { deploymentId } });
    } catch (error) {
      if (!(error instanceof ServerRefused) || error.status !== 409) throw error;
      const { state } = await callServer(target, 'retrieveDeployment', { params: { version: deploymentId } });
      if (state === 'uploading' || state === 'failed') throw error;
    }
  });
}
