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

const withJson = (command: Command): Command =>
  withConnectionOptions(command.option('--json', 'JSON on stdout'));

const aboutOf = ({ task, queue }: Alert): string => task ?? queue ?? 'all';

const stateOf = ({ enabled, state, firingSince }: Alert): string =>
  enabled ? (state === 'FIRING' ? `firing since ${firingSince?.toISOString()}` : 'ok') : 'disabled';

const listCommand = (): Command =>
  withJson(new Command('list').description('alerts of the environment, oldest first')).action(
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
      .description('an alert, and what its condition holds for now')
      .argument('<alert>', 'its id (alert_…)'),
  ).action(async (id: string, options: JsonOption) => {
    const { alerts } = await openClient(options);
    const alert = await alerts.retrieve(id);
    if (options.json) return printJson(alert);
    const { line } = screenOn(process.stdout);
    line(`${alert.name ?? alert.id}: ${alert.kind} of ${aboutOf(alert)}, ${stateOf(alert)}`);
    line(
      `threshold ${alert.threshold} (${alertRules[alert.kind].unit}), window ${alert.window}, quiet ${alert.quiet}`,
    );
    line(`endpoints ${alert.endpoints?.join(', ') ?? 'all that take alerts'}`);
    for (const { subject, value, since } of alert.subjects)
      line(`${subject}: ${value} since ${since.toISOString()}`);
  });

interface SettingOptions extends JsonOption {
  readonly task?: string;
  readonly queue?: string;
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
      .option('--task <id>', 'only this task')
      .option('--queue <name>', "only this queue; task/<id> is a task's own")
      .option('--threshold <number>', 'groups, times, percent or seconds, by kind', positiveNumber)
      .option('--min-runs <count>', 'of task.failureRate: fewer runs are too few to tell', positiveInteger)
      .option('--window <span>', 'the time that counts, or for which it must hold, such as 5m')
      .option('--quiet <span>', 'the time between two messages, such as 30m')
      .option('--name <name>', 'shown in messages')
      .option(
        '--endpoint <id>',
        'tell this endpoint; may be repeated (default: all that take alerts)',
        (id: string, all: string[]) => [...all, id],
        [],
      ),
  );

function settingsOf({ task, queue, threshold, minRuns, window, quiet, name, endpoint }: SettingOptions) {
  const options = { task, queue, threshold, minRuns, window, quiet, name };
  const settings = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...settings, ...(endpoint.length > 0 && { endpoints: endpoint }) };
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
    return `  ${kind.padEnd(18)}${unit}; by default ${threshold.default} within ${durationText(window.default)}`;
  })
  .join('\n');

const addCommand = (): Command =>
  withSettings(
    new Command('add')
      .description('have a condition checked, and endpoints told when it holds and when it is over')
      .addArgument(new Argument('<kind>', 'what is checked').choices(alertKinds))
      .addHelpText('after', `\nKinds and what their threshold counts:\n${kinds}`),
  ).action(async (kind: AlertKind, options: SettingOptions) => {
    const { alerts } = await openClient(options);
    printChanged(await alerts.create({ kind, ...settingsOf(options) }), 'Added', options.json);
  });

const updateCommand = (): Command =>
  withSettings(
    new Command('update')
      .description('change the settings that are given')
      .argument('<alert>', 'its id (alert_…)'),
  ).action(async (id: string, options: SettingOptions) => {
    const { alerts } = await openClient(options);
    printChanged(await alerts.update(id, settingsOf(options)), 'Updated', options.json);
  });

const switchCommand = (verb: 'enable' | 'disable', description: string): Command =>
  withJson(new Command(verb).description(description).argument('<alert>', 'its id (alert_…)')).action(
    async (id: string, options: JsonOption) => {
      const { alerts } = await openClient(options);
      const changed = await alerts.update(id, { enabled: verb === 'enable' });
      printChanged(changed, verb === 'enable' ? 'Enabled' : 'Disabled', options.json);
    },
  );

const removeCommand = (): Command =>
  withJson(
    new Command('remove').description('delete an alert').argument('<alert>', 'its id (alert_…)'),
  ).action(async (id: string, options: JsonOption) => {
    const { alerts } = await openClient(options);
    const removed = await alerts.del(id);
    if (options.json) return printJson(removed);
    screenOn(process.stdout).line(`Deleted ${id}.`);
  });

export const alertsCommand = (): Command =>
  new Command('alerts')
    .description('conditions that are checked, and told to endpoints')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(addCommand())
    .addCommand(updateCommand())
    .addCommand(switchCommand('enable', 'check it again'))
    .addCommand(switchCommand('disable', 'stop the checks'))
    .addCommand(removeCommand());
