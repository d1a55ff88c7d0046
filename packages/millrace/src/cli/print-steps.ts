import { readableDuration } from '@millrace/contract/plain';
import type { RunStep } from '@millrace/sdk';
import { shownValue } from './project-codec.ts';
import { printTable } from './print-table.ts';
import type { Screen } from './screen.ts';

const maxResult = 60;

/** Prints the steps of a run, with the beginnings of their results. */
export function printSteps(steps: readonly RunStep[], { line }: Screen): void {
  line();
  printTable(
    ['step', 'status', 'attempt', 'took', 'result'],
    steps.map((step) => [
      step.name,
      step.takenFrom === undefined ? step.status : 'TAKEN OVER',
      String(step.attempt),
      readableDuration(step.durationMs),
      cut(resultOf(step)),
    ]),
  );
}

function resultOf({ error, output, outputPresignedUrl, detail }: RunStep): string {
  if (error) return `${error.name ?? 'Error'}: ${error.message}`;
  if (outputPresignedUrl !== undefined) return 'a large one';
  if (output !== undefined) return shownValue(output);
  return detail ?? '';
}

const cut = (text: string): string => {
  const [first = ''] = text.split('\n');
  return first.length > maxResult ? `${first.slice(0, maxResult - 1).toWellFormed()}…` : first;
};
