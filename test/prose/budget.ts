import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { areas, repository, type Area } from './files.ts';
import type { Finding } from './findings.ts';

/** The number of findings of each kind in each area. Zero is left out. */
export type Counts = Readonly<Record<string, Readonly<Partial<Record<Area, number>>>>>;

const file = join(repository, 'test/prose/budget.json');

export const readBudget = (): Counts => JSON.parse(readFileSync(file, 'utf8')) as Counts;

export const lowerBudget = (counts: Counts): void =>
  writeFileSync(file, `${JSON.stringify(counts, null, 2)}\n`);

export function countsOf(findings: readonly Finding[]): Counts {
  const counts: Record<string, Partial<Record<Area, number>>> = {};
  for (const { kind, area } of findings.toSorted((a, b) => order(a) - order(b))) {
    const byArea = (counts[kind] ??= {});
    byArea[area] = (byArea[area] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const order = ({ area }: Finding): number => areas.indexOf(area);

const differences = (a: Counts, b: Counts): { kind: string; area: Area; before: number; now: number }[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].toSorted().flatMap((kind) =>
    areas.flatMap((area) => {
      const [now, before] = [a[kind]?.[area] ?? 0, b[kind]?.[area] ?? 0];
      return now === before ? [] : [{ kind, area, before, now }];
    }),
  );

/** A line for each count that is higher than the budget allows. */
export const overBudget = (counts: Counts, budget: Counts): string[] =>
  differences(counts, budget)
    .filter(({ before, now }) => now > before)
    .map(
      ({ kind, area, before, now }) =>
        `${kind} in ${area}: ${now}, but at most ${before} are allowed. Run: npm run prose -- --list '${kind}'`,
    );

/** A line for each count that is lower than the budget, which must then be lowered. */
export const belowBudget = (counts: Counts, budget: Counts): string[] =>
  differences(counts, budget)
    .filter(({ before, now }) => now < before)
    .map(
      ({ kind, area, before, now }) =>
        `${kind} in ${area}: ${now}, fewer than the ${before} in the budget. Run: npm run prose -- --lower`,
    );
