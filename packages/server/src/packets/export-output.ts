import { packetThreshold, storedType } from '@millrace/contract';
import type { Outcome } from '@millrace/contract/runner';
import { newId } from '../db/ids.ts';
import type { PacketStore } from './write.ts';
import { packetType, writePacket } from './write.ts';

/** A verb that ends attempts, with large outputs stored apart: they would travel with their run wherever that is read. */
export const exportingOutputs =
  <E extends { readonly env: number; readonly run: string; readonly outcome: Outcome }, R>(
    store: PacketStore,
    settle: (ended: E) => Promise<R>,
  ): ((ended: E) => Promise<R>) =>
  (ended) => {
    const { outcome } = ended;
    if (outcome.kind !== 'completed' || outcome.output === null || !isLarge(outcome.output)) {
      return settle(ended);
    }
    const { env, run } = ended;
    // Of this attempt alone: one that turns out to be stale leaves a packet that nobody names.
    const name = `${run}/${newId('output')}`;
    const contentType = packetType(outcome.outputType);
    return writePacket(store, { env, name, contentType }, textOf(outcome.output)).then(() =>
      settle({ ...ended, outcome: { ...outcome, output: name, outputType: storedType } }),
    );
  };

/** In bytes; its characters alone say so nearly always. */
const isLarge = (text: string): boolean =>
  text.length >= packetThreshold / 3 && Buffer.byteLength(text) >= packetThreshold;

async function* textOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}
