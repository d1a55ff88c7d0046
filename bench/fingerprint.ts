/**
 * How long a fingerprint takes: `node bench/fingerprint.ts`. Typical errors come from the recorded corpus; hostile ones are 1 MB
 * of what patterns find hardest.
 */
import { join } from 'node:path';
import { fingerprint, type ThrownError } from '../packages/fingerprint/src/index.ts';
import { hostileTexts } from '../packages/fingerprint/src/testing/hostile.ts';
import { readCorpus } from '../packages/fingerprint/score/score.ts';

const corpus = join(import.meta.dirname, '../packages/fingerprint/corpus');

function microseconds(errors: ThrownError[], rounds: number): number {
  // Processor time: wall time also includes other processes.
  const started = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) for (const error of errors) fingerprint(error);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / (rounds * errors.length);
}

const rows: Record<string, string | number>[] = [];
const splits = ['train', 'heldout', 'final', 'wide'].map((split) => ({
  split,
  errors: readCorpus(join(corpus, `${split}.ndjson`)),
}));
// The measurement begins after the patterns are compiled, which happens only once in a server.
for (const { errors } of splits) microseconds(errors, 8);
for (const { split, errors } of splits) {
  const best = Math.min(...Array.from({ length: 7 }, () => microseconds(errors, 2)));
  rows.push({ errors: split, count: errors.length, 'CPU µs an error, best of 7 rounds': best.toFixed(1) });
}
console.table(rows);

const size = 1_000_000;
console.table(
  hostileTexts(size).map(({ name, text }) => {
    const error = { name: text, message: text, stack: `Error: ${text}\n${text}` };
    const started = performance.now();
    fingerprint(error);
    return { 'hostile, 1 MB': name, 'ms, first call': (performance.now() - started).toFixed(2) };
  }),
);
