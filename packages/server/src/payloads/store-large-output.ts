import { packetThreshold, storedType } from '@millrace/contract';
import type { Outcome } from '@millrace/contract/runner';
import { newId } from '../db/ids.ts';
import { partLength } from '../json/parts.ts';
import type { PacketStore } from './write.ts';
import { packetType, writePacket } from './write.ts';

/** Stores a large output separately from its run; otherwise every read of the run would transfer it. Other outcomes are unchanged. */
export function storeLargeOutput<
  E extends { readonly env: number; readonly run: string; readonly outcome: Outcome },
>(store: PacketStore, ended: E): E | Promise<E> {
  const { env, run, outcome } = ended;
  if (outcome.kind !== 'completed' || outcome.output === null || !isLarge(outcome.output)) return ended;
  // The name is unique to this attempt. If the attempt turns out to be stale, no run names the packet, and it is pruned.
  const name = `${run}/${newId('output')}`;
  const contentType = packetType(outcome.outputType);
  return writePacket(store, { env, name, contentType }, contentOf(outcome.output)).then(() => ({
    ...ended,
    outcome: { ...outcome, output: name, outputType: storedType },
  }));
}

interface LargeText {
  readonly env: number;
  readonly run: string;
  readonly text: string;
  readonly type: string;
}

/** Stores a large text other than the output of its run, such as the result of a step. Undefined if the text is not large. */
export async function storeLargeText(
  store: PacketStore,
  { env, run, text, type }: LargeText,
): Promise<{ readonly name: string } | undefined> {
  if (!isLarge(text)) return undefined;
  const name = `${run}/${newId('result')}`;
  await writePacket(store, { env, name, contentType: packetType(type) }, contentOf(text));
  return { name };
}

/** Measured in bytes, though the number of characters is almost always enough to decide. */
const isLarge = (text: string): boolean =>
  text.length >= packetThreshold / 3 && Buffer.byteLength(text) >= packetThreshold;

/** Written in pieces, each separately. */
async function* contentOf(text: string): AsyncGenerator<Buffer> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + partLength);
    if (to < text.length && isLowSurrogate(text.charCodeAt(to))) to--;
    yield Buffer.from(text.slice(from, to));
    from = to;
  }
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
