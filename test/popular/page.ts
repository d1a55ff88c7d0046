import { isDeepStrictEqual } from 'node:util';
import type { Used } from './use-all.ts';

/** One package. */
export interface Row {
  readonly kind: string;
  readonly name: string;
  readonly version: string;
  /** The day of the test, and its Node.js version. */
  readonly date: string;
  readonly node: string;
  /** The reason why it is not bundled; undefined if it is. */
  readonly why?: string | undefined;
  readonly dev: Used;
  readonly deployed: Used;
}

/** Requirements of packages that the test does not meet. */
const needs: Readonly<Record<string, string>> = {
  'better-sqlite3': 'an install script that downloads or compiles its native code',
};

/** The page of the documentation with these results. */
export function pageOf(rows: readonly Row[]): string {
  const failed = rows.filter((row) => !isGood(row));
  const whole = rows.filter(({ why }) => why !== undefined);
  const dates = rows.map(({ date }) => date).toSorted();
  const [first, last] = [dates[0], dates.at(-1)];
  const nodes = [...new Set(rows.map(({ node }) => node))].toSorted();
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  return [
    '# Packages',
    '',
    '<!-- Written by `npm run popular`. -->',
    '',
    `${rows.length} common packages were tested in a task: once in \`millrace dev\`, and once deployed to a runner without installed`,
    'packages. A package passes if the task returns the same value in both. The tests use no network: clients are tested until',
    'their connection is refused.',
    '',
    `${rows.length - failed.length} of ${rows.length} pass without configuration. ${rows.length - whole.length} are bundled. ${whole.length} are installed in a [layer](deployments.md#layers); the tables`,
    'show the reason. Other package managers than npm [work too](deployments.md#package-managers).',
    '',
    `Node.js ${nodes.join(', ')}, ${first === last ? first : `${first} to ${last}`}.`,
    ...(failed.length === 0
      ? []
      : [
          '',
          '## Failing',
          '',
          ...table(['Package', 'Version', '`dev`', 'Deployed', 'Needs'], failed.map(failureOf)),
        ]),
    ...kinds.flatMap((kind) =>
      sectionOf(
        kind,
        rows.filter((row) => row.kind === kind && isGood(row)),
      ),
    ),
    '',
  ].join('\n');
}

function sectionOf(kind: string, rows: readonly Row[]): string[] {
  const bundled = rows.filter(({ why }) => why === undefined);
  const whole = rows.filter(({ why }) => why !== undefined);
  const cells = whole.map(({ name, version, why = '' }) => [`\`${name}\``, version, why]);
  return [
    '',
    `## ${kind === 'ai' ? 'AI' : kind[0]?.toUpperCase() + kind.slice(1)}`,
    ...(bundled.length === 0
      ? []
      : ['', `Bundled: ${bundled.map(({ name, version }) => `\`${name}\` ${version}`).join(', ')}.`]),
    ...(whole.length === 0 ? [] : ['', ...table(['In a layer', 'Version', 'Not bundled, because'], cells)]),
  ];
}

const isGood = ({ dev, deployed }: Row): boolean =>
  dev.error === undefined && isDeepStrictEqual(dev, deployed);

const failureOf = ({ name, version, dev, deployed }: Row): string[] => [
  `\`${name}\``,
  version,
  outcomeOf(dev),
  isDeepStrictEqual(dev, deployed) || deployed.error ? outcomeOf(deployed) : 'another value',
  needs[name] ?? '',
];

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  lineOf(head),
  `|${'---|'.repeat(head.length)}`,
  ...rows.map(lineOf),
];

const lineOf = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const outcomeOf = ({ error }: Used): string =>
  error === undefined ? 'works' : `fails: ${(error.split('\n')[0] ?? '').slice(0, 120)}`;
