import type { ModelUsage } from '@millrace/contract';
import { Command, Option } from 'commander';
import { call } from '../call.ts';
import { branchServer, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printTable } from '../print-table.ts';
import { findProject, withProjectOptions, type ProjectOptions } from '../project.ts';
import { printJson, screenOn } from '../screen.ts';

interface UsageOptions extends ConnectionOptions {
  readonly period: string;
  readonly task?: string;
  readonly tag?: string;
  readonly model?: string;
  readonly by?: 'task' | 'model' | 'tag';
  readonly limit?: number;
  readonly json?: boolean;
}

interface PriceOptions extends ProjectOptions {
  readonly input: string;
  readonly output: string;
  readonly cachedInput?: string;
  readonly cacheWrite?: string;
}

export const modelsCommand = (): Command =>
  new Command('models')
    .description('show tokens and cost of language models')
    .addCommand(usageCommand())
    .addCommand(
      new Command('prices')
        .description('manage the prices of language models')
        .addCommand(listCommand())
        .addCommand(setCommand())
        .addCommand(deleteCommand()),
    );

const figures = ['calls', 'input tokens', 'cached', 'output tokens', 'cost'];
const figuresOf = (usage: ModelUsage): string[] => [
  String(usage.calls),
  String(usage.inputTokens),
  String(usage.cachedInputTokens),
  String(usage.outputTokens),
  costText(usage),
];

/** Calls without a price are marked, because the cost is too low. */
const costText = ({ cost, calls, unpricedCalls }: ModelUsage): string =>
  unpricedCalls === 0
    ? `$${cost}`
    : unpricedCalls === calls
      ? 'no price'
      : `$${cost} + ${unpricedCalls} unpriced`;

const usageCommand = (): Command =>
  withConnectionOptions(
    new Command('usage')
      .description('show tokens and cost by day, task, model or tag')
      .option('--period <period>', 'period up to now, such as 7d; it begins with a UTC day', '30d')
      .option('--task <id>', 'filter by task ID')
      .option('--tag <tag>', 'filter by tag; only runs that have not been deleted')
      .option('--model <name>', 'filter by model')
      .addOption(
        new Option(
          '--by <dimension>',
          'group by task, model or tag, most expensive first (default: days)',
        ).choices(['task', 'model', 'tag']),
      )
      .option('--limit <count>', 'with --by: maximum number of groups', positiveInteger)
      .option('--json', 'print JSON'),
  ).action(async ({ period, task, tag, model, by, limit, json, ...connection }: UsageOptions) => {
    const { login, headers } = await branchServer(connection);
    const query = {
      period,
      ...(task !== undefined && { task }),
      ...(tag !== undefined && { tag }),
      ...(model !== undefined && { model }),
      ...(by !== undefined && { by }),
      ...(limit !== undefined && { limit: String(limit) }),
    };
    const found = await call(login, 'retrieveModelUsage', { query, headers });
    if (json) return printJson(found);
    const rows =
      by === undefined
        ? found.days.filter(({ calls }) => calls > 0).map((day) => [day.at.slice(0, 10), ...figuresOf(day)])
        : found.groups.map((group) => [group.name, ...figuresOf(group)]);
    printTable([by ?? 'day', ...figures], [...rows, ['total', ...figuresOf(found.total)]]);
    const { line } = screenOn(process.stderr);
    for (const each of found.unpriced) {
      line(
        `No price: ${each.model} (${each.provider}), ${each.unpricedCalls} calls. Set one: millrace models prices set ${each.model} --input … --output …`,
      );
    }
  });

const listCommand = (): Command =>
  withProjectOptions(
    new Command('list').description(
      "list the project's prices, then the default prices, in US dollars for a million tokens",
    ),
  ).action(async (options: ProjectOptions) => {
    const { login, projectRef } = await findProject(options);
    const { data, defaultsFrom } = await call(login, 'listModelPrices', { params: { projectRef } });
    if (options.json) return data.forEach(printJson);
    printTable(
      ['model', 'input', 'cached', 'cache write', 'output', ''],
      data.map((price) => [
        price.model,
        price.input,
        price.cachedInput ?? price.input,
        price.cacheWrite ?? price.input,
        price.output,
        price.isDefault ? `default, ${defaultsFrom}` : 'project',
      ]),
    );
  });

const setCommand = (): Command =>
  withProjectOptions(
    new Command('set')
      .description('set the price of a model for later calls')
      .argument('<model>', 'name of the model; a final * matches any rest')
      .requiredOption('--input <dollars>', 'US dollars for a million input tokens, such as 2.50')
      .requiredOption('--output <dollars>', 'US dollars for a million output tokens')
      .option('--cached-input <dollars>', 'for input tokens read from the cache (default: --input)')
      .option('--cache-write <dollars>', 'for input tokens written to the cache (default: --input)'),
  ).action(async (model: string, options: PriceOptions) => {
    const { login, projectRef } = await findProject(options);
    const { input, output, cachedInput = null, cacheWrite = null } = options;
    const body = { model, input, output, cachedInput, cacheWrite };
    const price = await call(login, 'setModelPrice', { params: { projectRef }, body });
    if (options.json) return printJson(price);
    screenOn(process.stdout).line(
      `${price.model} now costs $${price.input} for a million input tokens and $${price.output} for a million output tokens.`,
    );
  });

const deleteCommand = (): Command =>
  withProjectOptions(
    new Command('delete')
      .description("delete the project's price of a model; a default price applies again")
      .argument('<model>', 'name of the model, as in the list'),
  ).action(async (model: string, options: ProjectOptions) => {
    const { login, projectRef } = await findProject(options);
    const deleted = await call(login, 'deleteModelPrice', { params: { projectRef, model } });
    if (options.json) return printJson(deleted);
    screenOn(process.stdout).line(`The price of ${deleted.model} is deleted.`);
  });
