import { alertKinds, alertRules, durationText, type AlertKind } from '@millrace/contract/plain';
import type { Alert } from '@millrace/sdk';
import { Argument, Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger, positiveNumber } from '../options.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

const withJson = (command: Command): Command => withConnectionOptions(command.option('--json', 'print JSON'));

const aboutOf = ({ task, queue, owners }: Alert): string =>
  `${task ?? queue ?? 'all'}${owners === null ? '' : ` of ${owners.join(', ')}`}`;

const stateOf = ({ enabled, state, firingSince }: Alert): string =>
  enabled ? (state === 'FIRING' ? `firing since ${firingSince?.toISOString()}` : 'ok') : 'disabled';

const listCommand = (): Command =>
  withJson(new Command('list').description('list alerts, oldest first')).action(
    async (options: JsonOption) => {
      const { alerts } = await openClient(options);
      const found = await alerts.list();
      if (options.json) return found.forEach(printJson);
      printTable(
        ['alert', 'kind', 'of', 'threshold', 'window', 'quiet', 'state', 'name'],
        found.map((alert) => [
          alert.id,
          alert.kind,
          aboutOf(alert),
          String(alert.threshold),
          alert.window,
          alert.quiet,
          stateOf(alert),
          alert.name ?? '',
        ]),
      );
    },
  );

const showCommand = (): Command =>
  withJson(
    new Command('show')
      .description('show an alert and the objects it is firing for')
      .argument('<alert>', 'alert ID (alert_…)'),
  ).action(async (id: string, options: JsonOption) => {
    const { alerts } = await openClient(options);
    const alert = await alerts.retrieve(id);
    if (options.json) return printJson(alert);
    const { line } = screenOn(process.stdout);
    line(`${alert.name ?? alert.id}: ${alert.kind} of ${aboutOf(alert)}, ${stateOf(alert)}`);
    line(
      `threshold ${alert.threshold} (${alertRules[alert.kind].unit}), window ${alert.window}, quiet ${alert.quiet}`,
    );
    line(`endpoints ${alert.endpoints?.join(', ') ?? 'all that accept alerts'}`);
    for (const { subject, value, since } of alert.subjects)
      line(`${subject}: ${value} since ${since.toISOString()}`);
  });

interface SettingOptions extends JsonOption {
  readonly task?: string;
  readonly queue?: string;
  readonly owner: readonly string[];
  readonly threshold?: number;
  readonly minRuns?: number;
  readonly window?: string;
  readonly quiet?: string;
  readonly endpoint: readonly string[];
  readonly name?: string;
}

const withSettings = (command: Command): Command =>
  withJson(
    command
      .option('--task <id>', 'monitor only this task')
      .option('--queue <name>', 'monitor only this queue; task/<id> is the queue of a task')
      .option(
        '--owner <owner>',
        'monitor only errors and tasks of this owner; repeatable',
        (owner: string, all: string[]) => [...all, owner],
        [],
      )
      .option('--threshold <number>', 'threshold, in the unit of the kind', positiveNumber)
      .option(
        '--min-runs <count>',
        'for task.failureRate: minimum number of runs in the window',
        positiveInteger,
      )
      .option('--window <duration>', 'evaluation window, such as 5m')
      .option('--quiet <duration>', 'minimum time between two messages, such as 30m')
      .option('--name <name>', 'name of the alert in messages')
      .option(
        '--endpoint <id>',
        'endpoint to notify; repeatable (default: all endpoints that accept alerts)',
        (id: string, all: string[]) => [...all, id],
        [],
      ),
  );

function settingsOf({
  task,
  queue,
  threshold,
  minRuns,
  window,
  quiet,
  name,
  endpoint,
  owner,
}: SettingOptions) {
  const options = { task, queue, threshold, minRuns, window, quiet, name };
  const settings = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return {
    ...settings,
    ...(endpoint.length > 0 && { endpoints: endpoint }),
    ...(owner.length > 0 && { owners: owner }),
  };
}

function printChanged(alert: Alert, verb: string, json: boolean | undefined): void {
  if (json) return printJson(alert);
  screenOn(process.stdout).line(
    `${verb} ${alert.id}: ${alert.kind} of ${aboutOf(alert)}, ${stateOf(alert)}.`,
  );
}

const kinds = alertKinds
  .map((kind) => {
    const { unit, threshold, window } = alertRules[kind];
    return `  ${kind.padEnd(18)}${unit} (default: ${threshold.default} within ${durationText(window.default)})`;
  })
  .join('\n');

const addCommand = (): Command =>
  withSettings(
    new Command('add')
      .description('add an alert for a condition')
      .addArgument(new Argument('<kind>', 'condition to check').choices(alertKinds))
      .addHelpText('after', `\nKinds, and the unit of their threshold:\n${kinds}`),
  ).action(async (kind: AlertKind, options: SettingOptions) => {
    const { alerts } = await openClient(options);
    printChanged(await alerts.create({ kind, ...settingsOf(options) }), 'Added', options.json);
  });

const updateCommand = (): Command =>
  withSettings(
    new Command('update')
      .description('change settings of an alert')
      .argument('<alert>', 'alert ID (alert_…)'),
  ).action(async (id: string, options: SettingOptions) => {
    const { alerts } = await openClient(options);
    printChanged(await alerts.update(id, settingsOf(options)), 'Updated', options.json);
  });

const switchCommand = (verb: 'enable' | 'disable', description: string): Command =>
  withJson(new Command(verb).description(description).argument('<alert>', 'alert ID (alert_…)')).action(
    async (id: string, options: JsonOption) => {
      const { alerts } = await openClient(options);
      const changed = await alerts.update(id, { enabled: verb === 'enable' });
      printChanged(changed, verb === 'enable' ? 'Enabled' : 'Disabled', options.json);
    },
  );

const removeCommand = (): Command =>
  withJson(
    new Command('remove').description('delete an alert').argument('<alert>', 'alert ID (alert_…)'),
  ).action(async (id: string, options: JsonOption) => {
    const { alerts } = await openClient(options);
    const removed = await alerts.del(id);
    if (options.json) return printJson(removed);
    screenOn(process.stdout).line(`Deleted ${id}.`);
  });

export const alertsCommand = (): Command =>
  new Command('alerts')
    .description('manage alerts, which notify endpoints of problems')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(addCommand())
    .addCommand(updateCommand())
    .addCommand(switchCommand('enable', 'enable an alert'))
    .addCommand(switchCommand('disable', 'disable an alert'))
    .addCommand(removeCommand());
