import type { RunnerInfo } from '@millrace/contract';
import { Command } from 'commander';
import { age } from '../age.ts';
import { call } from '../call.ts';
import { branchServer, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import type { Login } from '../login.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsForServer } from '../waiting.ts';

interface RunnerOptions extends ConnectionOptions {
  readonly json?: boolean;
}

const withRunnerOptions = (command: Command): Command =>
  withConnectionOptions(command).option('--json', 'print JSON');

async function openServer(
  options: RunnerOptions,
): Promise<{ login: Login; headers: Record<string, string> }> {
  const server = await branchServer(options);
  waitsForServer(server.login.url);
  return server;
}

const shownVersions = 3;

/** The newest ones, which come first. */
function versionsText(versions: readonly string[]): string {
  const newest = versions.slice(0, shownVersions).join(' ');
  const others = versions.length - shownVersions;
  return others > 0 ? `${newest} and ${others} more` : newest;
}

const listCommand = (): Command =>
  withRunnerOptions(new Command('list').description('list connected runners, newest first')).action(
    async (options: RunnerOptions) => {
      const { login, headers } = await openServer(options);
      const { data } = await call(login, 'listRunners', { headers });
      if (options.json) return data.forEach(printJson);
      printTable(
        [
          'runner',
          'host',
          'process',
          'platform',
          'Node.js',
          'running',
          'since',
          'heartbeat',
          'labels',
          'state',
          'versions',
        ],
        data.map((runner) => [
          runner.id,
          runner.host,
          String(runner.pid),
          runner.platform ?? '',
          runner.nodeMajor === null ? '' : String(runner.nodeMajor),
          `${runner.running}/${runner.slots}`,
          age(new Date(runner.connectedAt)),
          age(new Date(runner.lastHeartbeatAt)),
          runner.labels.join(','),
          runner.draining ? 'drains' : 'serves',
          versionsText(runner.versions),
        ]),
      );
    },
  );

const nameOf = ({ id, host, pid }: RunnerInfo): string => `${id} (process ${pid} on ${host})`;

const drainCommand = (): Command =>
  withRunnerOptions(
    new Command('drain')
      .description('stop sending attempts to a runner; active attempts continue')
      .argument('<runner>', 'runner ID from `millrace runners list`'),
  )
    .option('--undo', 'send attempts to the runner again')
    .action(async (runnerId: string, options: RunnerOptions & { undo?: boolean }) => {
      const { login, headers } = await openServer(options);
      const body = { draining: options.undo !== true };
      const runner = await call(login, 'drainRunner', { params: { runnerId }, headers, body });
      if (options.json) return printJson(runner);
      screenOn(process.stdout).line(
        runner.draining
          ? `${nameOf(runner)} receives no more attempts; ${runner.running} active.`
          : `${nameOf(runner)} receives attempts again.`,
      );
    });

const stopCommand = (): Command =>
  withRunnerOptions(
    new Command('stop')
      .description('stop a runner within its grace period')
      .argument('<runner>', 'runner ID from `millrace runners list`'),
  ).action(async (runnerId: string, options: RunnerOptions) => {
    const { login, headers } = await openServer(options);
    const runner = await call(login, 'stopRunner', { params: { runnerId }, headers });
    if (options.json) return printJson(runner);
    screenOn(process.stdout).line(`Stop signal sent to ${nameOf(runner)}.`);
  });

export const runnersCommand = (): Command =>
  new Command('runners')
    .description('list, drain and stop connected runners')
    .addCommand(listCommand())
    .addCommand(drainCommand())
    .addCommand(stopCommand());
