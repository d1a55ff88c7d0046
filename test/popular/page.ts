import { isDeepStrictEqual } from 'node:util';
import type { Used } from './use-all.ts';

/** One package. */
export interface Row {
  readonly kind: string;
  readonly name: string;
  readonly version: string;
  /** Why it is not bundled; undefined if it is. */
  readonly why: string | undefined;
  readonly dev: Used;
  readonly deployed: Used;
}

/** The page of the documentation with these results. */
export function pageOf(rows: readonly Row[]): string {
  const isGood = ({ dev, deployed }: Row): boolean =>
    dev.error === undefined && isDeepStrictEqual(dev, deployed);
  const good = rows.filter(isGood);
  const whole = rows.filter(({ why }) => why !== undefined);
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  return [
    '# Packages',
    '',
    '<!-- Written by `npm run popular`. -->',
    '',
    `${rows.length} packages that tasks often use were used by a task, once in \`dev\` and once deployed to a runner that has nothing`,
    'installed. A package passes if the task returns the same value in both. No network was used: clients were tried up to the',
    'refused connection.',
    '',
    `${good.length} of ${rows.length} pass without a setting. ${rows.length - whole.length} are bundled. ${whole.length} are installed in a [layer](deployments.md#layers), for the reason in`,
    'the table.',
    ...kinds.flatMap((kind) => [
      '',
      `## ${kind === 'ai' ? 'AI' : kind[0]?.toUpperCase() + kind.slice(1)}`,
      '',
      '| Package | Version | `dev` | Deployed | Not bundled, because |',
      '|---|---|---|---|---|',
      ...rows.filter((row) => row.kind === kind).map(lineOf),
    ]),
    '',
  ].join('\n');
}

function lineOf(row: Row): string {
  const { name, version, why = '', dev, deployed } = row;
  const isSame = isDeepStrictEqual(dev, deployed);
  const cells = [
    `\`${name}\``,
    version,
    shown(dev),
    isSame || deployed.error ? shown(deployed) : 'another value',
    why,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const shown = ({ error }: Used): string =>
  error === undefined ? 'works' : `fails: ${(error.split('\n')[0] ?? '').slice(0, 120)}`;
