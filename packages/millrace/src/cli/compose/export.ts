import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { version } from '@millrace/platform';
import { exportEnvironment, type Exported } from '../../transfer/export.ts';
import type { NotExported } from '../../transfer/runs.ts';
import { writeFileOnce, type Lines } from '../../transfer/file.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { progressLine } from '../progress-line.ts';
import { printJson, screenOn, writeJson } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import { kindsOf, openRemote, requireRights, type TransferOptions } from './transfer-remote.ts';

const which: Readonly<Record<NotExported, string>> = {
  executing: 'that have started. They finish in this environment',
  'waited for': 'that another run waits for',
  collected: 'that combine the payloads of several triggers',
};

export interface ExportCommandOptions extends TransferOptions {
  readonly secrets?: boolean;
  readonly runs?: boolean;
  readonly period?: string;
  readonly force?: boolean;
}

/** Writes the environment of the key to a file, or to stdout. */
export async function exportToFile(file: string, options: ExportCommandOptions): Promise<void> {
  const { secrets = false, period, json = false } = options;
  const isFile = file !== '-';
  if (period !== undefined && !options.runs)
    throw new CommandFailed(exitCodes.usage, '--period requires --runs.');
  if (isFile) refuseFile(file, options.force ?? false);
  const only = kindsOf(options.only);
  if (options.runs) only.add('finished-run');
  else only.delete('finished-run');
  const remote = await openRemote(options);
  requireRights(remote, only, 'export');
  waitsFor();
  const progress = progressLine();
  const write = (lines: Lines): Promise<Exported> =>
    exportEnvironment(remote, lines, {
      only,
      secrets,
      finished: options.runs ? { period } : undefined,
      millrace: version,
      branch: remote.branch,
      onRecord: (counts) => progress([...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')),
    });
  const exported = isFile ? await writeFileOnce(file, write) : await write(toStdout);
  report(exported, { file, isFile, json });
}

function refuseFile(file: string, force: boolean): void {
  const folder = dirname(resolve(file));
  if (!existsSync(folder))
    throw new CommandFailed(exitCodes.usage, `The folder ${folder} does not exist. Create it first.`);
  if (!force && existsSync(file))
    throw new CommandFailed(exitCodes.usage, `${file} already exists. Choose another name, or pass --force.`);
}

/** Writes as fast as the output is read. */
const toStdout: Lines = {
  async write(value) {
    if (!writeJson(value)) await once(process.stdout, 'drain');
  },
};

function report(
  { counts, secretsLeftOut, runsLeftOut }: Exported,
  { file, isFile, json }: { file: string; isFile: boolean; json: boolean },
): void {
  if (json && isFile) {
    printJson({
      file,
      counts: Object.fromEntries(counts),
      secretsLeftOut,
      runsLeftOut: Object.fromEntries(runsLeftOut),
    });
    return;
  }
  const { line, paint } = screenOn(isFile ? process.stdout : process.stderr);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const list = [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ');
  line(`Wrote ${total} records${isFile ? ` to ${file}` : ''}${list === '' ? '' : `: ${list}`}.`);
  if (secretsLeftOut.length > 0)
    line(
      paint.yellow(
        `The values of these secrets are not included (--secrets includes them): ${secretsLeftOut.join(', ')}.`,
      ),
    );
  for (const [why, count] of runsLeftOut) line(paint.yellow(`Not exported: ${count} runs ${which[why]}.`));
}
