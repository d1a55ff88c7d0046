import type { ListedWebhookDelivery, Webhook, WebhookDelivery } from '@millrace/contract';
import { Command } from 'commander';
import { call } from '../call.ts';
import { branchServer, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printJson, screenOn, table, type Screen } from '../screen.ts';
import { listedWebhooks } from '../webhook-calls.ts';
import { webhookSendCommand } from './webhooks-send.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list webhooks with the addresses that other services send to')
      .option('--json', 'print JSON, one object per line'),
  ).action(async ({ json, ...options }: JsonOption) => {
    const webhooks = await listedWebhooks(options);
    if (json) return webhooks.forEach(printJson);
    const screen = screenOn(process.stdout);
    if (webhooks.length === 0)
      return screen.line('No webhooks. Declare one with `webhook()` of @millrace/sdk.');
    for (const webhook of webhooks) printWebhook(webhook, screen);
  });

function printWebhook({ id, url, scheme, secrets, rejected, lastRejection }: Webhook, screen: Screen): void {
  const { line, paint } = screen;
  line(paint.bold(id));
  const unset = secrets.length > 0 && secrets.every(({ isSet }) => !isSet);
  const properties = [
    ['url', url],
    ['verified', scheme === 'none' ? 'no' : scheme],
    ...secrets.map(({ name, isSet }) => ['secret', isSet ? name : `${name} (not set)`]),
    ...(rejected === 0
      ? []
      : [['rejected', `${rejected}, last: ${lastRejection?.code} at ${lastRejection?.at}`]]),
  ];
  for (const row of table(properties)) line(row);
  if (unset) line(paint.yellow('Every request is rejected until one of the secrets is set.'));
}

interface DeliveriesOptions extends JsonOption {
  readonly webhook?: string;
  readonly limit: number;
}

const deliveriesCommand = (): Command =>
  withConnectionOptions(
    new Command('deliveries')
      .description('list accepted requests, newest first')
      .option('--webhook <id>', 'filter by webhook ID')
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25)
      .option('--json', 'print JSON, one object per line'),
  ).action(async ({ webhook, limit, json, ...options }: DeliveriesOptions) => {
    const { login, headers } = await branchServer(options);
    const found: ListedWebhookDelivery[] = [];
    for (let after: string | undefined; found.length < limit;) {
      const query = {
        'page[size]': String(Math.min(limit - found.length, 100)),
        ...(webhook !== undefined && { 'filter[webhook]': webhook }),
        ...(after !== undefined && { 'page[after]': after }),
      };
      const { data, pagination } = await call(login, 'listWebhookDeliveries', { headers, query });
      found.push(...data);
      after = pagination.next;
      if (after === undefined) break;
    }
    if (json) return found.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (found.length === 0) return line('No deliveries.');
    const rows = found.map((delivery) => [
      delivery.id,
      delivery.webhook,
      delivery.senderId ?? '-',
      String(delivery.bytes),
      String(delivery.runs.length),
      delivery.receivedAt,
    ]);
    const [head = '', ...body] = table([
      ['id', 'webhook', 'sender id', 'bytes', 'runs', 'received'],
      ...rows,
    ]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

function printDelivery(delivery: WebhookDelivery, { line, text, paint }: Screen): void {
  line(paint.bold(delivery.webhook));
  const properties = [
    ['id', delivery.id],
    ['sender id', delivery.senderId ?? '-'],
    ['received', delivery.receivedAt],
    ...Object.entries(delivery.headers).map(([name, value]) => ['header', `${name}: ${value}`]),
    ['body', `${delivery.bytes} bytes${delivery.isBase64Encoded ? ', in base64' : ''}`],
  ];
  for (const row of table(properties)) line(row);
  for (const row of table(delivery.runs.map((run) => ['run', run.id, run.taskIdentifier, run.status])))
    line(row);
  if (delivery.bytes > 0) text(delivery.rawBody);
}

const showCommand = (): Command =>
  withConnectionOptions(
    new Command('show')
      .description('show an accepted request with its body and the runs it started')
      .argument('<delivery>', 'delivery ID')
      .option('--json', 'print JSON'),
  ).action(async (webhookDeliveryId: string, { json, ...options }: JsonOption) => {
    const { login, headers } = await branchServer(options);
    const delivery = await call(login, 'retrieveWebhookDelivery', { headers, params: { webhookDeliveryId } });
    if (json) printJson(delivery);
    else printDelivery(delivery, screenOn(process.stdout));
  });

interface ReplayOptions extends JsonOption {
  readonly onVersion?: string;
}

const replayCommand = (): Command =>
  withConnectionOptions(
    new Command('replay')
      .description('start another run with the content of an accepted request')
      .argument('<delivery>', 'delivery ID')
      .option('--on-version <version>', 'version that executes the run (default: the current one)')
      .option('--json', 'print JSON'),
  ).action(async (webhookDeliveryId: string, { onVersion, json, ...options }: ReplayOptions) => {
    const { login, headers } = await branchServer(options);
    const replayed = await call(login, 'replayWebhookDelivery', {
      headers,
      params: { webhookDeliveryId },
      body: { version: onVersion },
    });
    if (json) printJson(replayed);
    else screenOn(process.stdout).line(replayed.run);
  });

export const webhooksCommand = (): Command =>
  new Command('webhooks')
    .description('receive requests of other services, which start runs')
    .addCommand(listCommand())
    .addCommand(deliveriesCommand())
    .addCommand(showCommand())
    .addCommand(replayCommand())
    .addCommand(webhookSendCommand());
