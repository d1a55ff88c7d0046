import { batchItem, batchItemLimit, storedType, type BatchItem } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { Transaction } from '../db/connect.ts';
import { parseText } from '../json/foreign.ts';
import { Turns } from '../json/turns.ts';
import { unstorableIssue } from '../json/unstorable.ts';
import { unprocessable } from '../problem.ts';
import type { Parent } from '../runs/create/parent.ts';
import type { Batches, BatchRow, Filled, PreparedItem } from './batch.ts';
import { fillBatch } from './fill.ts';
import { prepareItem } from './item.ts';
import { linesOf, type Line } from './lines.ts';

export interface Upload {
  readonly batches: Batches;
  readonly environment: Environment;
  readonly batch: BatchRow;
  /** The run that opened the batch. */
  readonly parent: Parent | undefined;
  /** Locks the state that must not change until a slice is written, or throws. */
  readonly hold: ((tx: Transaction) => Promise<void>) | undefined;
  /** Throws if the sender may not trigger this item in a batch. */
  readonly admit: (item: BatchItem) => void;
  /** Throws if the sender may not use the packet that an item names. */
  readonly authorizePacket: (item: BatchItem) => Promise<void>;
}

const maxItems = 1_000;
const maxBytes = 4 * 1_024 * 1_024;

/**
 * Fills a batch with the lines of an upload, slice by slice; while PostgreSQL writes one slice, the next one is read. Slices before a
 * rejected line remain written and are recognized when the upload is resent.
 */
export async function fillFromLines(
  { batches, environment, batch, parent, hold, admit, authorizePacket }: Upload,
  body: AsyncIterable<Uint8Array>,
): Promise<Filled> {
  const sealed = batch.sealed_at !== null;
  let filled: Filled = { accepted: 0, deduplicated: 0, received: batch.received, sealed };
  let writing: Promise<void> | undefined;
  let slice: PreparedItem[] = [];
  let bytes = 0;
  const turns = new Turns();

  const write = async (items: readonly PreparedItem[]): Promise<void> => {
    const written = await fillBatch(batches, environment.id, batch, items, hold);
    filled = {
      ...written,
      accepted: filled.accepted + written.accepted,
      deduplicated: filled.deduplicated + written.deduplicated,
    };
  };
  const flush = async (): Promise<void> => {
    await writing;
    if (slice.length === 0) return;
    writing = write(slice);
    // A failure is handled when the next slice is ready.
    writing.catch(() => {});
    slice = [];
    bytes = 0;
  };

  try {
    for await (const lines of linesOf(body, batchItemLimit, ['index', 'task'])) {
      for (const line of lines) {
        const item = itemOf(line, batch.run_count);
        admit(item);
        const afterReading = turns.next();
        if (afterReading) await afterReading;
        if (item.options?.payloadType === storedType) await authorizePacket(item);
        const prepared = prepareItem(batches, environment, batch, parent, item);
        slice.push({
          run: prepared instanceof Promise ? await prepared : prepared,
          isOversized: !('text' in line),
        });
        bytes += 'text' in line ? line.text.length : 0;
        if (slice.length >= maxItems || bytes >= maxBytes) await flush();
        const afterPreparing = turns.next();
        if (afterPreparing) await afterPreparing;
      }
    }
  } catch (error) {
    // The reply is sent only when no write of this upload is in progress.
    await writing?.catch(() => {});
    throw error;
  }
  await flush();
  await writing;
  return filled;
}

function itemOf(line: Line, runCount: number): BatchItem {
  const item = 'text' in line ? parseText(line.text, `Line ${line.number}`) : line.members;
  const read = batchItem.safeParse(item);
  const unstorable = unstorableIssue(batchItem, item, 'text' in line ? line.text : undefined);
  if (!read.success || unstorable) {
    const issue = read.error?.issues[0] ?? unstorable;
    const where = issue && issue.path.length > 0 ? ` at "${issue.path.join('.')}"` : '';
    const { index } = Object(item) as { index?: unknown };
    const position = Number.isInteger(index) ? index : line.number - 1;
    throw unprocessable(`Invalid item at index ${position}: ${issue?.message}${where}`);
  }
  if (read.data.index >= runCount) {
    throw unprocessable(
      `Item index ${read.data.index} is out of range: the batch has ${runCount} items, numbered from 0.`,
    );
  }
  return read.data;
}
