import type { Result } from './run.ts';

const columns: readonly (readonly [title: string, cell: (result: Result) => string | number])[] = [
  ['Scenario', ({ scenario }) => scenario],
  ['Calls', ({ calls }) => calls],
  ['Runs', ({ acknowledgedRuns }) => acknowledgedRuns],
  ['Lost', ({ lost }) => lost],
  ['Doubled', ({ doubled }) => doubled],
  ['Other violations', ({ violations, lost, doubled }) => violations.length - lost - doubled],
  ['False rescues', ({ falseRescues }) => falseRescues],
  ['Executed again', ({ executedAgain }) => executedAgain],
  ['Failed calls', ({ failedCalls }) => failedCalls],
  ['Longest outage', ({ maxOutage }) => `${maxOutage} s`],
  ['Recovery', ({ recovery }) => (recovery === undefined ? '–' : `${recovery} s`)],
];

/** The results as a Markdown table, which is also readable on a terminal. */
export function resultTable(results: readonly Result[]): string {
  const rows = [
    columns.map(([title]) => title),
    ...results.map((result) => columns.map(([, cell]) => String(cell(result)))),
  ];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}
