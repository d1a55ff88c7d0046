import type { Operations, Reply } from '@millrace/contract';
import { recordLimits, tryParse } from '../json/foreign.ts';
import type { Channels } from '../channels/channels.ts';
import type { ChannelKey } from '../channels/key.ts';
import type { ChannelRecord } from '../channels/record.ts';

const maxPages = 100;

/** Reads a channel starting at number `from`, up to 100 pages. */
export async function drainChannel(
  channels: Channels,
  key: ChannelKey,
  from: number,
): Promise<Reply<Operations['listSessionOutRecords']>> {
  const all: ReturnType<typeof drained>[] = [];
  let next = from;
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await channels.read(key, next);
    if (page.records.length === 0) break;
    for (const record of page.records) all.push(drained(record));
    next = page.next;
  }
  return { records: all };
}

function drained({ seq, body, headers, id }: ChannelRecord) {
  const envelope = envelopeOf(body);
  return {
    data: envelope ? envelope.data : body === '' ? null : body,
    id: envelope?.id ?? id ?? String(seq),
    seqNum: seq,
    ...(headers && { headers: headers.map(([name, value]): [string, string] => [name, value]) }),
  };
}

/** The envelope `{"data": …, "id": …}` of a body; undefined if the body is the data itself. */
function envelopeOf(body: string): { data: unknown; id?: string } | undefined {
  if (!body.startsWith('{')) return undefined;
  const value = tryParse(body, recordLimits) as { data?: unknown; id?: unknown } | undefined;
  if (value === undefined || !Object.hasOwn(value, 'data')) return undefined;
  return { data: value.data, ...(typeof value.id === 'string' && { id: value.id }) };
}
