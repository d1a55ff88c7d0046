import type { Erasure } from '@millrace/contract';
import { readableSize } from '@millrace/contract/plain';
import { Command, Option } from 'commander';
import { EnvironmentClient } from '../../api/environment-client.ts';
import type { SaveManifest } from '../../archive/archive.ts';
import type { Dropped } from '../../archive/drop.ts';
import type { Manifest } from '../../archive/manifest.ts';
import { bucketStore, folderStore, type ArchiveStore } from '../../archive/store.ts';
import { confirmed } from '../confirm.ts';
import { findServer } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { progressLine } from '../progress-line.ts';
import { s3Settings } from '../s3-settings.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsFor, waitsForServer } from '../waiting.ts';
import { countEnded, endedFilter, runsText, withEndedOptions, type EndedOptions } from './runs-ended.ts';

interface ArchiveOptions extends EndedOptions {
  readonly into: string;
  readonly gzip: boolean;
  readonly thenErase?: boolean;
  readonly thenDelete?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export const archiveCommand = (): Command =>
  withEndedOptions(
    new Command('archive')
      .description('archive ended runs with all their data as NDJSON files in a folder or an S3 bucket')
      .requiredOption('--into <target>', 'folder, or s3://bucket/prefix with the variables of AWS tools')
      .option('--no-gzip', 'do not compress the files'),
  )
    .addOption(
      new Option(
        '--then-erase',
        'erase the data of the archived runs, after the archive was verified',
      ).conflicts('thenDelete'),
    )
    .option('--then-delete', 'delete the archived runs, after the archive was verified')
    .option('-y, --yes', 'skip the confirmation prompt')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nAn interrupted archive continues when the command is repeated with the same target and filters.',
    )
    .action(archive);

async function archive(options: ArchiveOptions): Promise<void> {
  const { into, gzip, json, yes } = options;
  // They load a schema library, which other commands do not need.
  const { archiveRuns } = await import('../../archive/archive.ts');
  const { dropRuns } = await import('../../archive/drop.ts');
  const { line } = screenOn(process.stdout);
  const mode = options.thenErase ? 'erase' : options.thenDelete ? 'delete' : undefined;
  // In the form in which the manifest stores it.
  const selected = endedFilter(options) ?? {};
  const filter = JSON.parse(JSON.stringify(selected)) as Record<string, unknown>;
  const { url, key } = await findServer(options);
  waitsForServer(url);
  const client = new EnvironmentClient({ url, key, branch: options.branch });
  const { project, environment } = await client.call('whoami');
  waitsFor();
  if (mode !== undefined && !yes) {
    const { ended } = await countEnded(options, selected);
    const act = mode === 'erase' ? 'erase their data' : 'delete them';
    if (
      !(await confirmed(`Archive ${runsText(ended)} and then ${act}? This cannot be undone.`, 'pass --yes'))
    )
      throw new CommandFailed(exitCodes.failed, 'Nothing was archived or erased.');
  }
  const progress = progressLine();
  const totals = (state: Manifest) => ({
    runs: sumOf(state.parts.map((part) => part.runs)),
    files: sumOf(state.parts.map((part) => part.files.length)),
    bytes: sumOf(state.parts.flatMap((part) => part.files.map((file) => file.bytes))),
  });
  const drop = async (
    target: ArchiveStore,
    verified: Manifest,
    save: SaveManifest,
    act: Erasure['mode'],
  ): Promise<Dropped> => {
    waitsFor('the runs to be erased; runs that ended less than a minute ago are erased last');
    const dropped = await dropRuns({ client, store: target }, verified, {
      mode: act,
      save,
      onProgress: (erased) => progress(`${erased} runs erased`),
    });
    waitsFor();
    return dropped;
  };
  try {
    const target = await openTarget(into);
    const source = [project?.ref, environment?.name, environment?.branch].filter(Boolean).join('/');
    const onProgress = (state: Manifest): void => progress(`${totals(state).runs} runs archived`);
    const { written, dropped } = await archiveRuns(
      { client, store: target, source, filter, gzip, onProgress },
      async (state, save) => ({
        written: { into: target.name, ...totals(state), verified: true },
        dropped: mode && (await drop(target, state, save, mode)),
      }),
    );
    if (json) return printJson({ ...written, ...(dropped && { mode, ...dropped }) });
    const countOf = (count: number): string => runsText({ count, isExact: true });
    line(
      `Archived ${countOf(written.runs)} in ${written.files} files (${readableSize(written.bytes)}) to ${written.into}, and verified them.`,
    );
    if (dropped) line(`${mode === 'delete' ? 'Deleted' : 'Erased the data of'} ${countOf(dropped.erased)}.`);
  } catch (error) {
    throw explained(error, mode);
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

async function openTarget(into: string): Promise<ArchiveStore> {
  if (!/^s3:/i.test(into)) return folderStore(into);
  const settings = s3Settings(into, process.env, '--into');
  // Loaded here, because the server is large.
  const { openS3Store, StoreFailed } = await import('@millrace/server');
  const onAway = (why: string): never => {
    throw new StoreFailed(why);
  };
  return bucketStore(await openS3Store(settings, onAway, '--into'));
}

/** The errors of targets, with the state in which they leave the runs. */
const ofTarget = new Set(['StoreFailed', 'StoreRefused', 'ArchiveDamaged', 'ArchiveTaken']);

function explained(error: unknown, mode: Erasure['mode'] | undefined): unknown {
  const { name, message } = error as Error;
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  if (ofTarget.has(name))
    return new CommandFailed(
      exitCodes.failed,
      mode === undefined ? sentence : `${sentence} No run was erased or deleted.`,
    );
  if (name === 'ErasureStopped') return new CommandFailed(exitCodes.failed, sentence);
  return error;
}
