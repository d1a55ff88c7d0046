import type { Duplex, Readable } from 'node:stream';

/** Calls back with each line of a stream. Looks at every chunk once, so that a line of many megabytes costs no more than its size. */
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

/** More without the end of a line is passed on as it is. */
const maxPending = 65_536;

/** What a process says, in whole lines: a secret that arrived in two pieces would be found in neither. */
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
