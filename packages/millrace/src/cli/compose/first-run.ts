import { printRun } from '../print-run.ts';
import type { Connection } from '../running-dev.ts';
import { printJson, screenOn } from '../screen.ts';

/** Runs the task of a first project once and prints the run; with `json` as a line on stdout. */
export async function firstRun({ url, key }: Connection, json: boolean): Promise<void> {
  const { MillraceClient } = await import('@millrace/sdk');
  const { tasks, runs } = new MillraceClient({ baseURL: url, secretKey: key });
  const run = await runs.poll(await tasks.trigger('hello', { name: 'Ada' }), { pollIntervalMs: 50 });
  if (json) return printJson(run);
  const screen = screenOn(process.stdout);
  screen.line();
  printRun(run, [], screen);
  screen.line();
}
