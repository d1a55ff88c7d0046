import type { Operations, Reply } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';

type WireBatch = Reply<Operations['retrieveBatch']>;

/** The current state of a batch. */
export interface Batch extends Omit<WireBatch, 'createdAt' | 'updatedAt' | 'sealedAt' | 'processing'> {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When its last item was stored and its runs were released. */
  readonly sealedAt?: Date;
  readonly processing: Omit<WireBatch['processing'], 'completedAt'> & {
    /** When its last item was stored and its runs were released. */
    readonly completedAt?: Date;
  };
}

/**
 * The current state of a batch, with the ids of its runs in the order of its items: `PENDING` until its last run has ended, then `COMPLETED`.
 *
 * Throws a NotFoundError when this environment has no such batch, after some seconds of retries, like `runs.retrieve`.
 *
 * @example
 * const { status, runs } = await batch.retrieve(handle.batchId);
 */
export async function retrieve(batchId: string): Promise<Batch> {
  const { createdAt, updatedAt, sealedAt, processing, ...same } = await currentClient().call(
    'retrieveBatch',
    {
      params: { batchId },
    },
  );
  const { completedAt, ...rest } = processing;
  return {
    ...same,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    ...(sealedAt !== undefined && { sealedAt: new Date(sealedAt) }),
    processing: { ...rest, ...(completedAt !== undefined && { completedAt: new Date(completedAt) }) },
  };
}
