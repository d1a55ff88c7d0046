import type { ComparedTask, Deployment, DeploymentComparison } from '@millrace/sdk';
import { readableDuration } from '@millrace/contract/plain';
import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn, type Screen } from '../screen.ts';

interface CompareOptions extends ConnectionOptions {
  readonly json?: boolean;
}

export const compareCommand = (): Command =>
  withConnectionOptions(
    new Command('compare')
      .description('compare two versions: tasks, commits, failure rates and durations')
      .argument('[version]', 'version, such as 20261121.3, or its ID (default: the current version)')
      .argument('[other]', 'version to compare it with (default: the version before)'),
  )
    .option('--json', 'print JSON')
    .action(
      async (
        version: string | undefined,
        other: string | undefined,
        { json, ...connection }: CompareOptions,
      ) => {
        const { deployments } = await openClient(connection);
        const found = await deployments.compare(version ?? (await deployments.retrieveCurrent()), other);
        if (json) return printJson(found);
        printComparison(found, screenOn(process.stdout));
      },
    );

function printComparison(comparison: DeploymentComparison, { line, paint }: Screen): void {
  const { before, after, tasks, deployments, hasMoreDeployments, commitsUrl } = comparison;
  line(paint.bold(`${before.version} (${stateOf(before)}) → ${after.version} (${stateOf(after)})`));
  line();
  printTable(
    ['deployment', 'created', 'commit', 'branch', 'author', 'message'],
    deployments.map(({ version, createdAt, git, message }) => [
      version,
      createdAt.toISOString(),
      git?.commit?.slice(0, 12) ?? '',
      git?.branch ?? '',
      git?.author ?? '',
      message ?? git?.message ?? '',
    ]),
  );
  if (hasMoreDeployments) line(paint.dim('Earlier deployments are not listed.'));
  if (commitsUrl !== null) line(commitsUrl);
  line();
  printTable(
    ['task', 'change', 'runs', 'failed', 'p50', 'p95'],
    tasks.map((task) => [
      task.id,
      task.change === 'same' ? '' : task.change,
      sides(task, ({ completed, failed }) => String(completed + failed)),
      sides(task, ({ failureRate }) => percentOf(failureRate)),
      sides(task, ({ p50 }) => timeOf(p50)),
      sides(task, ({ p95 }) => timeOf(p95)),
    ]),
  );
  for (const { id, changes } of tasks.filter((task) => task.changes.length > 0)) {
    line();
    line(paint.bold(id));
    printTable(
      ['option', before.version, after.version],
      changes.map((change) => [change.field, valueOf(change.before), valueOf(change.after)]),
    );
  }
}

const stateOf = ({ state, canaryPercent }: Deployment): string =>
  canaryPercent === null ? state : `canary ${canaryPercent} %`;

type Runs = NonNullable<ComparedTask['before']>;

/** A figure of the older and of the newer version; a version without the task has a dash. */
const sides = ({ before, after }: ComparedTask, figure: (runs: Runs) => string): string =>
  [before, after].map((runs) => (runs ? figure(runs) : '–')).join(' → ');

const percentOf = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`);

const timeOf = (ms: number | null): string => (ms === null ? '–' : readableDuration(ms));

/** Options that a version does not set are empty. */
const valueOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));
