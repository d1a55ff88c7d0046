import { median, rounded } from './statistics.ts';
import type { Figures, Workload } from './workload.ts';

export interface Measured {
  readonly round: number;
  readonly system: string;
  readonly flushMs: number | null;
  readonly load: number | null;
  readonly figures?: Figures;
  readonly error?: string;
}

const row = (cells: readonly (string | number | null | undefined)[]): string =>
  `| ${cells.map((cell) => cell ?? '–').join(' | ')} |`;

const table = (
  head: readonly string[],
  rows: readonly (readonly (string | number | null | undefined)[])[],
): string => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

const numbersOf = (values: readonly (number | null | undefined)[]): number[] =>
  values.filter((value): value is number => typeof value === 'number');

/** Medians of every system, then our ratio to each peer within a round: its median and its range. */
export function tableOf({ title, compared }: Workload, measured: readonly Measured[]): string {
  const systems = [...new Set(measured.map(({ system }) => system))];
  const of = (system: string) => measured.filter((result) => result.system === system);
  const names = [...new Set(measured.flatMap(({ figures }) => Object.keys(figures ?? {})))];
  const medians = systems.map((system) => {
    const good = of(system).filter(({ figures }) => figures);
    const failures = of(system).flatMap(({ error }) => error ?? []);
    return [
      system,
      good.length,
      ...names.map((name) => rounded(median(numbersOf(good.map(({ figures }) => figures?.[name]))))),
      rounded(median(numbersOf(of(system).map(({ flushMs }) => flushMs)))),
      failures[0]?.split('\n')[0] ?? '',
    ];
  });
  const ours = systems.filter((system) => system.startsWith('millrace'));
  const peers = systems.filter((system) => !system.startsWith('millrace'));
  const ratios = Object.entries(compared).flatMap(([name, better]) =>
    ours.map((our) => [
      `${name} of ${our} (${better} is better)`,
      ...peers.map((peer) => {
        const inRounds = of(our).map(({ round, figures }) => {
          const other = of(peer).find((result) => result.round === round)?.figures?.[name];
          const own = figures?.[name];
          return typeof own === 'number' && typeof other === 'number' ? own / other : null;
        });
        const found = numbersOf(inRounds);
        if (found.length === 0) return null;
        return `${rounded(median(found))} (${rounded(Math.min(...found))}–${rounded(Math.max(...found))})`;
      }),
    ]),
  );
  return [
    `\n## ${title}\n`,
    table(['system', 'rounds', ...names, 'flush ms', 'failed'], medians),
    '\nOurs divided by each peer, in the same round: median (least–most)\n',
    table(['', ...peers], ratios),
  ].join('\n');
}
