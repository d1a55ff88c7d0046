/**
 * Lists and counts text that reads as a translation: `npm run prose`.
 *
 * `--list <kind>` prints the matches of a kind, or of `all`. Paths limit the list to files that begin with them. `--lower` writes the counts
 * to budget.json, if none is higher than before.
 */
import { parseArgs } from 'node:util';
import { areas } from './files.ts';
import { lowerBudget, overBudget, readBudget, countsOf } from './budget.ts';
import { report } from './report.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'string' }, lower: { type: 'boolean' } },
});
const { open } = await report();
const counts = countsOf(open);
const print = (line: string): boolean => process.stdout.write(`${line}\n`);

if (values.list !== undefined) {
  for (const { kind, at, text } of open)
    if (
      (values.list === 'all' || values.list === kind) &&
      (positionals.length === 0 || positionals.some((path) => at.startsWith(path)))
    )
      print(`${at}: [${kind}] ${text}`);
} else {
  print(['kind'.padEnd(22), ...[...areas, 'all'].map((area) => area.padStart(11))].join(''));
  for (const [kind, byArea] of Object.entries(counts)) {
    const numbers = areas.map((area) => byArea[area] ?? 0);
    const cells = [...numbers, numbers.reduce((sum, count) => sum + count, 0)];
    print([kind.padEnd(22), ...cells.map((count) => String(count).padStart(11))].join(''));
  }
}
if (values.lower) {
  const over = overBudget(counts, readBudget());
  for (const line of over) print(line);
  if (over.length > 0) process.exitCode = 1;
  else lowerBudget(counts);
}
