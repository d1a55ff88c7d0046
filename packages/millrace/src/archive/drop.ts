import type { Erasure } from '@millrace/contract';
import type { EnvironmentClient } from '../api/environment-client.ts';
import { ServerRefused } from '../api/errors.ts';
import { followErasure } from '../api/follow-erasure.ts';
import type { SaveManifest } from './archive.ts';
import type { Manifest } from './manifest.ts';
import type { ArchiveStore } from './store.ts';
import { runsOf } from './verify.ts';

export interface Dropped {
  readonly erased: number;
  readonly skipped: number;
}

/** An erasure was stopped by another caller. */
export class ErasureStopped extends Error {
  override readonly name = 'ErasureStopped';
}

/**
 * Erases or deletes exactly the runs of a verified archive on the server, part by part. The manifest names the erasure of each part, so an
 * interrupted command follows it instead of requesting another one.
 */
export async function dropRuns(
  { client, store }: { readonly client: EnvironmentClient; readonly store: ArchiveStore },
  verified: Manifest,
  {
    mode,
    save,
    onProgress,
  }: {
    readonly mode: Erasure['mode'];
    readonly save: SaveManifest;
    readonly onProgress: (erased: number) => void;
  },
): Promise<Dropped> {
  const state = { ...verified, parts: verified.parts.map((part) => ({ ...part })) };
  const dropped = { erased: 0, skipped: 0 };
  const follow = (id: string): Promise<Erasure | undefined> =>
    followErasure(
      () => retrieved(client, id),
      (erased) => onProgress(dropped.erased + erased),
    );
  for (const part of state.parts) {
    let erasure = part.erasure === undefined ? undefined : await follow(part.erasure);
    if (erasure?.mode !== mode || erasure.status === 'ABORTED') {
      const runIds = await runsOf(store, part);
      if (runIds.length === 0) continue;
      const { id } = await client.call('createErasure', { body: { runIds, mode } });
      part.erasure = id;
      await save(state);
      erasure = await follow(id);
    }
    if (erasure?.status === 'ABORTED')
      throw new ErasureStopped(`The erasure ${erasure.id} was stopped. The archive is complete.`);
    dropped.erased += erasure?.counts.erased ?? 0;
    dropped.skipped += erasure?.counts.skipped ?? 0;
  }
  return dropped;
}

/** Undefined if the server no longer has the erasure, a long time after it ended. */
const retrieved = (client: EnvironmentClient, erasureId: string): Promise<Erasure | undefined> =>
  client.call('retrieveErasure', { params: { erasureId } }).catch((error: unknown) => {
    if (error instanceof ServerRefused && error.status === 404) return undefined;
    throw error;
  });
