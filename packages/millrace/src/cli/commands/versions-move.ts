import type { MovableStatus, Moved } from '@millrace/sdk';
import { Command, Option } from 'commander';
import { confirmed } from '../confirm.ts';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';

interface MoveOptions extends ConnectionOptions {
  readonly task?: readonly string[];
  readonly status?: readonly MovableStatus[];
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const statuses: readonly MovableStatus[] = ['QUEUED', 'DELAYED', 'RETRYING', 'WAITING', 'PENDING_VERSION'];

export const moveCommand = (): Command =>
  withConnectionOptions(
    new Command('move')
      .description('move the waiting runs of a version to another one')
      .argument('<from>', 'version, such as 20261121.3, or its ID')
      .argument('<to>', 'target version, which must be ready and contain the tasks'),
  )
    .option('--task <ids...>', 'filter by task IDs')
    .addOption(new Option('--status <statuses...>', 'filter by status').choices(statuses))
    .option('--dry-run', 'list the runs to move, without moving them')
    .option('-y, --yes', 'skip the confirmation prompt')
    .option('--json', 'print JSON')
    .action(async (from: string, to: string, options: MoveOptions) => {
      const { task, status, dryRun, yes, json, ...connection } = options;
      const { deployments } = await openClient(connection);
      const filter = { ...(task && { task }), ...(status && { status }) };
      const plan = await deployments.move(from, to, { ...filter, dryRun: true });
      if (!json) printPlan(plan);
      else if (dryRun) printJson(plan);
      if (dryRun) return;
      const runs = plan.waiting.reduce((sum, { count }) => sum + count, 0);
      if (runs > 0 && plan.missingTasks.length === 0) {
        const question = `Move ${countOf(runs)} from ${plan.from} to ${plan.to}?`;
        if (!yes && !(await confirmed(question, 'pass --yes')))
          throw new CommandFailed(exitCodes.failed, 'Nothing was moved.');
      }
      const moved = await deployments.move(from, to, filter);
      if (json) printJson(moved);
      else if (moved.moved > 0 || runs > 0)
        screenOn(process.stdout).line(`Moved ${countOf(moved.moved)} from ${moved.from} to ${moved.to}.`);
      if (!moved.isComplete)
        throw new CommandFailed(
          exitCodes.failed,
          'Some runs stayed locked and were not moved. Run the command again.',
        );
    });

const countOf = (runs: number): string => (runs === 1 ? '1 run' : `${runs} runs`);

function printPlan({ waiting, missingTasks, staying, from, to }: Moved): void {
  const { line } = screenOn(process.stdout);
  if (waiting.length === 0) line(`No waiting run on ${from} can be moved.`);
  else
    printTable(
      ['task', 'status', 'runs', to],
      waiting.map((row) => [
        row.task,
        row.status,
        String(row.count),
        missingTasks.includes(row.task) ? 'does not contain the task' : '',
      ]),
    );
  if (staying > 0)
    line(
      staying === 1
        ? `1 attempt is active on ${from} and stays there.`
        : `${staying} attempts are active on ${from} and stay there.`,
    );
}
