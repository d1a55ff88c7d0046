import type { MetadataOperation } from '@millrace/contract';
import type { Codec } from '../sealing/codec.ts';
import { sealMetadata } from '../sealing/values.ts';
import type { MetadataChanges } from './buffer.ts';

/**
 * A change in the form in which it is sent. Keys, numbers and booleans are not encrypted, so that the server can still apply changes from
 * several runs.
 */
export async function sealOperation(
  codec: Codec | undefined,
  operation: MetadataOperation,
): Promise<MetadataOperation> {
  if (!codec || !('value' in operation) || operation.type === 'increment') return operation;
  return { ...operation, value: await sealMetadata(codec, operation.value) } as MetadataOperation;
}

/** Changes of a run, its parent and its root in the form in which they are sent. */
export async function sealChanges(codec: Codec, changes: MetadataChanges): Promise<MetadataChanges> {
  const targets = Object.entries(changes).map(
    async ([target, operations]) =>
      [target, await Promise.all(operations.map((operation) => sealOperation(codec, operation)))] as const,
  );
  return Object.fromEntries(await Promise.all(targets));
}
