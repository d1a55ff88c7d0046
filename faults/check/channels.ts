import type { AppendCall, History, ReadRecord } from '../history/types.ts';
import { groupBy, type Violation } from './violation.ts';

/**
 * A channel is a log with linearizable appends: an acknowledged append is in it once, at the acknowledged number; numbers have no gaps; an append
 * that began after another one was acknowledged has a higher number; a reader receives a prefix of the log, in order, each record once.
 */
export function checkChannels({ operations, stored }: History): Violation[] {
  const appends = groupBy(
    operations.filter((operation): operation is AppendCall => operation.call === 'append'),
    ({ channel }) => channel,
  );
  const reads = groupBy(
    operations.filter(
      (operation): operation is ReadRecord => operation.call === 'read' && operation.error === undefined,
    ),
    ({ channel }) => channel,
  );
  return Object.entries(stored.channels).flatMap(([channel, log]) =>
    [
      ...checkLog(log),
      ...checkAppends(log, appends.get(channel) ?? []),
      ...checkReads(log, reads.get(channel) ?? []),
    ].map((detail) => ({ promise: 'channel' as const, detail: `channel ${channel}: ${detail}` })),
  );
}

type Log = readonly { readonly seq: number; readonly value: string }[];

function checkLog(log: Log): string[] {
  const gap = log.findIndex(({ seq }, index) => seq !== index);
  return gap === -1 ? [] : [`record ${gap} has the number ${log[gap]?.seq}`];
}

function checkAppends(log: Log, appends: readonly AppendCall[]): string[] {
  const problems: string[] = [];
  const positions = groupBy(log, ({ value }) => value);
  for (const { value, seq, error } of appends) {
    const found = positions.get(value) ?? [];
    if (found.length > 1) problems.push(`"${value}" is in it ${found.length} times`);
    if (error === undefined && found.length === 0)
      problems.push(`"${value}" was acknowledged and is not in it`);
    else if (error === undefined && found[0]?.seq !== seq)
      problems.push(`"${value}" was acknowledged as ${seq} and is at ${found[0]?.seq}`);
  }
  const acknowledged = appends.filter(({ error }) => error === undefined);
  const byEnd = acknowledged.toSorted((a, b) => a.endedAt - b.endedAt);
  let ended = 0;
  let highest = -1;
  for (const append of acknowledged.toSorted((a, b) => a.invokedAt - b.invokedAt)) {
    for (let before = byEnd[ended]; before && before.endedAt < append.invokedAt; before = byEnd[++ended])
      highest = Math.max(highest, before.seq ?? -1);
    if ((append.seq ?? Infinity) <= highest)
      problems.push(
        `"${append.value}" has number ${append.seq}, although ${highest} had been acknowledged before`,
      );
  }
  return problems;
}

function checkReads(log: Log, reads: readonly ReadRecord[]): string[] {
  const problems: string[] = [];
  for (const [reader, records] of groupBy(reads, (record) => record.reader)) {
    records.forEach(({ seq, value }, index) => {
      if (seq !== index) problems.push(`${reader} received number ${seq} as record ${index}`);
      else if (log[index]?.value !== value)
        problems.push(`${reader} received "${value}" as ${seq}, which is "${log[index]?.value}"`);
    });
  }
  return problems;
}
