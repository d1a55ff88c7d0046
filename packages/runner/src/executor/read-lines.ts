import type { Duplex, Readable } from 'node:stream';

const lineEnd = 0x0a;

export interface LineReader {
  readonly onLine: (line: Buffer) => void;
  /** Maximum line length in bytes. Default: unlimited. */
  readonly maxBytes?: number;
  /** Called when a line is longer. Reading then stops. */
  readonly onTooLong?: () => void;
}

/** Reads a stream line by line. Scans every chunk once, so that long lines take linear time. Returns a function that stops it. */
export function readLines(
  stream: Duplex,
  { onLine, maxBytes = Infinity, onTooLong }: LineReader,
): () => void {
  let pending: Buffer[] = [];
  let length = 0;
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    pending = [];
  };
  stream.on('data', (chunk: Buffer) => {
    let from = 0;
    while (!isStopped) {
      const end = chunk.indexOf(lineEnd, from);
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      length += piece.length;
      if (length > maxBytes) {
        stop();
        return onTooLong?.();
      }
      if (end === -1) {
        if (piece.length > 0) pending.push(piece);
        return;
      }
      const line = pending.length === 0 ? piece : Buffer.concat([...pending, piece]);
      pending = [];
      length = 0;
      from = end + 1;
      onLine(line);
    }
  });
  return stop;
}

/** A longer text without a line end is passed on unchanged. */
const maxPending = 65_536;

/** Passes on a process's output in whole lines, because a secret split into two pieces would not be redacted. */
export function readOutput(stream: Readable | null, onText: (text: string) => void): void {
  let pending = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    pending += chunk;
    const end = pending.length > maxPending ? pending.length : pending.lastIndexOf('\n') + 1;
    if (end === 0) return;
    const text = pending.slice(0, end);
    pending = pending.slice(end);
    onText(text);
  });
  stream?.once('end', () => {
    if (pending !== '') onText(pending);
  });
}
