import type { ErrorRule } from '@millrace/sdk';
import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

interface RuleOptions extends JsonOption {
  readonly task?: string;
  readonly type?: string;
  readonly message?: string;
  readonly group: string;
  readonly position?: number;
  readonly period?: string;
}

const rowOf = ({ position, id, task, type, message, groupKey }: ErrorRule): string[] => [
  String(position),
  id,
  task ?? '*',
  type ?? '*',
  message ?? '*',
  groupKey,
];
const head = ['', 'id', 'task', 'type', 'message', 'group'];

const withPatterns = (command: Command): Command =>
  withConnectionOptions(
    command
      .option('--task <pattern>', 'pattern for the task ID; * matches any text')
      .option('--type <pattern>', 'pattern for the error type')
      .option('--message <pattern>', 'pattern for the error message'),
  );

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list rules in the order of their evaluation')
      .option('--json', 'print JSON, one object per line'),
  ).action(async (options: JsonOption) => {
    const { errors } = await openClient(options);
    const rules = await errors.rules.list();
    if (options.json) return rules.forEach(printJson);
    printTable(head, rules.map(rowOf));
  });

const addCommand = (): Command =>
  withPatterns(new Command('add').description('add a rule that assigns matching new errors to a group'))
    .requiredOption('--group <key>', 'key of the group, the same as `fingerprint` on an error')
    .option(
      '--position <number>',
      'position in the order of evaluation, from 1 (default: last)',
      positiveInteger,
    )
    .option('--json', 'print JSON')
    .action(async ({ task, type, message, group, position, ...options }: RuleOptions) => {
      const { errors } = await openClient(options);
      const rule = await errors.rules.create({ task, type, message, groupKey: group, position });
      if (options.json) return printJson(rule);
      printTable(head, [rowOf(rule)]);
    });

const changeCommand = (): Command =>
  withPatterns(
    new Command('change').description('change settings of a rule').argument('<rule>', 'rule ID (rule_…)'),
  )
    .option('--group <key>', 'key of the group, the same as `fingerprint` on an error')
    .option('--position <number>', 'position in the order of evaluation, from 1', positiveInteger)
    .option('--json', 'print JSON')
    .action(
      async (
        id: string,
        { task, type, message, group, position, ...options }: Partial<RuleOptions> & JsonOption,
      ) => {
        const { errors } = await openClient(options);
        const rule = await errors.rules.update(id, { task, type, message, groupKey: group, position });
        if (options.json) return printJson(rule);
        printTable(head, [rowOf(rule)]);
      },
    );

const removeCommand = (): Command =>
  withConnectionOptions(
    new Command('remove')
      .description('delete a rule; existing groups do not change')
      .argument('<rule>', 'rule ID (rule_…)')
      .option('--json', 'print JSON'),
  ).action(async (id: string, options: JsonOption) => {
    const { errors } = await openClient(options);
    await errors.rules.del(id);
    if (options.json) return printJson({ deleted: id });
    screenOn(process.stdout).line(`${id} is deleted.`);
  });

const tryCommand = (): Command =>
  withPatterns(new Command('try').description('list the recent failures that a rule would regroup'))
    .requiredOption('--group <key>', 'key of the group, the same as `fingerprint` on an error')
    .option('--period <period>', 'failed within this period, such as 24h')
    .option('--json', 'print JSON')
    .action(async ({ task, type, message, group, period, ...options }: RuleOptions) => {
      const { errors } = await openClient(options);
      const found = await errors.rules.preview({ task, type, message, groupKey: group, period });
      if (options.json) return printJson(found);
      const { line } = screenOn(process.stdout);
      line(`${found.matched} of the ${found.looked} latest failures match.`);
      if (found.matched === 0) return;
      printTable(
        ['group', 'matching', 'task', 'error'],
        found.from.map((source) => [
          source.id,
          `${source.matched} of ${source.looked}`,
          source.taskIdentifier,
          `${source.errorType}: ${source.errorMessage}`,
        ]),
      );
      line(`They would move to ${found.into.map((target) => target.id).join(', ')}.`);
    });

export const rulesCommand = (): Command =>
  new Command('rules')
    .description('manage rules that override fingerprints')
    .addCommand(listCommand())
    .addCommand(addCommand())
    .addCommand(changeCommand())
    .addCommand(removeCommand())
    .addCommand(tryCommand());
