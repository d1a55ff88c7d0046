/**
 * Lists and counts text that reads as a translation: `npm run prose`.
 *
 * `--list <kind>` prints the matches of a kind, or of `all`. `--since <revision>` prints those in lines that were added since then. Paths
 * limit both to files that begin with them. `--lower` writes the counts to budget.json, if none is higher than before.
 */
import { parseArgs } from 'node:util';
import { countsOf, lowerBudget, overBudget, readBudget, type Counts } from './budget.ts';
import { areas } from './files.ts';
import type { Finding } from './findings.ts';
import { report } from './report.ts';
import { changedSince } from './since.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'string' }, since: { type: 'string' }, lower: { type: 'boolean' } },
});
const { open } = await report();
const counts = countsOf(open);
if (values.list !== undefined || values.since !== undefined) list(values.list ?? 'all', values.since);
else if (values.lower) lower(counts);
else printCounts(counts);

function list(listed: string, revision: string | undefined): void {
  const isChanged = revision === undefined ? undefined : changedSince(revision);
  const isListed = ({ kind, at }: Finding): boolean => {
    const [path = '', line] = at.split(':');
    return (
      (listed === 'all' || listed === kind) &&
      (positionals.length === 0 || positionals.some((start) => path.startsWith(start))) &&
      (isChanged?.(path, Number(line)) ?? true)
    );
  };
  for (const { kind, at, text } of open.filter(isListed)) print(`${at}: [${kind}] ${text}`);
}

function lower(now: Counts): void {
  const over = overBudget(now, readBudget());
  for (const line of over) print(line);
  if (over.length > 0) process.exitCode = 1;
  else lowerBudget(now);
}

function printCounts(now: Counts): void {
  print(['kind'.padEnd(22), ...[...areas, 'all'].map((area) => area.padStart(11))].join(''));
  for (const [kind, byArea] of Object.entries(now)) {
    const numbers = areas.map((area) => byArea[area] ?? 0);
    const cells = [...numbers, numbers.reduce((sum, count) => sum + count, 0)];
    print([kind.padEnd(22), ...cells.map((count) => String(count).padStart(11))].join(''));
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
