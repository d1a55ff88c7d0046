import type { Duplex, Readable } from 'node:stream';

/** Calls back with each line of a stream. Scans every chunk once, so that long lines take linear time. */
export function readLines(stream: Duplex, onLine: (line: string) => void): void {
  let pending: string[] = [];
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      pending.push(chunk.slice(from, end));
      const line = pending.length === 1 ? (pending[0] ?? '') : pending.join('');
      pending = [];
      from = end + 1;
      onLine(line);
    }
    if (from < chunk.length) pending.push(chunk.slice(from));
  });
}

/** A longer text without a line end is passed on as it is. */
const maxPending = 65_536;

/** Passes on a process's output in whole lines, because a secret in two pieces would not be redacted. */
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
