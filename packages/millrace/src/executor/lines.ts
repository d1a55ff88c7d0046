import type { Duplex } from 'node:stream';

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
