import { recordLimits, tryParse } from '../../json/foreign.ts';
import { dataLines, onWire, type Wire } from './wire.ts';
import type { ChannelRecord } from '../record.ts';

/**
 * `v2`: batches with sequence numbers and headers. `v1`: one event per record, for clients without an SDK. `chunks`: one event per chunk,
 * without the SDKs' envelope, for clients that do not support it.
 */
export type Framing = 'v2' | 'v1' | 'chunks';

/** Encodes records as one frame for the socket. */
export function frameOf(records: readonly ChannelRecord[], framing: Framing, wire: Wire): Buffer {
  if (framing === 'v2') return onWire(batchEvent(records), wire);
  return onWire(records.map(framing === 'v1' ? recordEvent : chunkEvent).join(''), wire);
}

function batchEvent(records: readonly ChannelRecord[]): string {
  let bytes = 0;
  const encoded = records.map(({ seq, at, body, headers }) => {
    bytes += body.length;
    const more = headers && headers.length > 0 ? `,"headers":${JSON.stringify(headers)}` : '';
    return `{"seq_num":${seq},"timestamp":${at},"body":${JSON.stringify(body)}${more}}`;
  });
  const last = records.at(-1) as ChannelRecord;
  const tail = `{"seq_num":${last.seq + 1},"timestamp":${last.at}}`;
  return `id: ${last.seq},${records.length},${bytes}\nevent: batch\ndata: {"records":[${encoded.join(',')}],"tail":${tail}}\n\n`;
}

function recordEvent({ seq, body, headers }: ChannelRecord): string {
  if (headers && headers.length > 0) {
    return `id: ${seq}\nevent: control\ndata: ${JSON.stringify({ headers })}\n\n`;
  }
  return `id: ${seq}\n${dataLines(body)}\n`;
}

function chunkEvent({ seq, body, headers }: ChannelRecord): string {
  if (headers && headers.length > 0) return pingComment();
  return `id: ${seq}\n${dataLines(chunkIn(body))}\n`;
}

/** SDKs write `{"data": <chunk>, "id": "…"}`. Any other body is the chunk itself. */
function chunkIn(body: string): string {
  const { data } = Object(tryParse(body, recordLimits)) as { data?: unknown };
  return data === undefined ? body : JSON.stringify(data);
}

const pingBatch = (now: number): string => `event: ping\ndata: {"timestamp":${now}}\n\n`;
const pingComment = (): string => ': ping\n\n';

export const pingOf = (framing: Framing) => (framing === 'v2' ? pingBatch : pingComment);
export const endOf = (framing: Framing): string => (framing === 'v2' ? 'data: [DONE]\n\n' : '');
