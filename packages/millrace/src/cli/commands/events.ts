import { eventStatuses, type EventStatus } from '@millrace/contract/plain';
import type { EventDetail, ListedEvent, NewEvent, SentEvent } from '@millrace/sdk';
import { Command, Option } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { instant, json, positiveInteger } from '../options.ts';
import { printJson, screenOn, table, type Screen } from '../screen.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

function printSent(sent: SentEvent, asJson: boolean | undefined): void {
  if (asJson) return printJson(sent);
  const { line, paint } = screenOn(process.stdout);
  line(`${sent.id}  ${sent.status}`);
  for (const run of sent.runs) line(`  ${run}`);
  if (sent.isDuplicate) {
    line(
      sent.isDifferent
        ? paint.yellow('An event with this ID and different content already exists. Nothing was sent.')
        : paint.dim('The event already exists. Nothing was sent.'),
    );
  }
}

interface SendOptions extends JsonOption {
  readonly payload?: unknown;
  readonly id?: string;
  readonly source?: string;
  readonly deliverAt?: Date;
  readonly deliverAfter?: string;
}

const sendCommand = (): Command =>
  withConnectionOptions(
    new Command('send')
      .description('send an event, which triggers a run of each subscribed task')
      .argument('<name>', 'event name, such as order.created')
      .option('--payload <json>', 'payload of the runs, as JSON', json)
      .option('--id <id>', 'event ID; an event with the same ID is sent only once (default: random)')
      .option('--source <text>', 'source of the event')
      .option('--deliver-at <date>', 'deliver at this date, such as 2026-01-15T12:00:00Z', instant)
      .option('--deliver-after <duration>', 'deliver after this duration, such as 1h30m')
      .option('--json', 'print JSON'),
  ).action(
    async (name: string, { payload, id, source, deliverAt, deliverAfter, ...options }: SendOptions) => {
      const { events } = await openClient(options);
      const event: NewEvent = {
        name,
        payload,
        ...(id !== undefined && { id }),
        ...(source !== undefined && { source }),
        ...(deliverAt !== undefined && { deliverAt }),
        ...(deliverAfter !== undefined && { deliverAfter }),
      };
      printSent(await events.send(event), options.json);
    },
  );

interface ListOptions extends JsonOption {
  readonly name?: string;
  readonly status?: EventStatus;
  readonly limit: number;
}

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list events, newest first')
      .option('--name <name>', 'filter by event name')
      .addOption(new Option('--status <status>', 'filter by status').choices(eventStatuses))
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25)
      .option('--json', 'print JSON, one object per line'),
  ).action(async ({ name, status, limit, json: asJson, ...connection }: ListOptions) => {
    const { events } = await openClient(connection);
    const found: ListedEvent[] = [];
    const filters = {
      limit: Math.min(limit, 100),
      ...(name !== undefined && { name }),
      ...(status && { status }),
    };
    for await (const event of events.list(filters)) {
      found.push(event);
      if (found.length === limit) break;
    }
    if (asJson) return found.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (found.length === 0) return line('No events.');
    const rows = found.map((event) => [
      event.id,
      event.name ?? '-',
      event.status,
      String(event.runCount),
      event.createdAt.toISOString(),
    ]);
    const [head = '', ...body] = table([['id', 'name', 'status', 'runs', 'sent'], ...rows]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

function printEvent(event: EventDetail, { line, paint }: Screen): void {
  line(paint.bold(event.name ?? '(no name)'));
  const properties = [
    ['id', event.id],
    ['status', event.status],
    ['sent', event.createdAt.toISOString()],
    ...(event.deliverAt ? [['due', event.deliverAt.toISOString()]] : []),
    ...(event.deliveredAt ? [['delivered', event.deliveredAt.toISOString()]] : []),
    ...(event.canceledAt ? [['canceled', event.canceledAt.toISOString()]] : []),
    ...(event.replayOf === null ? [] : [['replay of', event.replayOf]]),
    ['payload', JSON.stringify(event.event['payload']) ?? 'none'],
  ];
  for (const row of table(properties)) line(row);
  for (const row of table(event.runs.map((run) => ['run', run.id, run.taskIdentifier, run.status])))
    line(row);
}

const withEvent = (command: Command): Command =>
  withConnectionOptions(command.argument('<event>', 'event ID').option('--json', 'print JSON'));

const showCommand = (): Command =>
  withEvent(new Command('show').description('show an event and the runs it triggered')).action(
    async (id: string, options: JsonOption) => {
      const { events } = await openClient(options);
      const event = await events.retrieve(id);
      if (options.json) printJson(event);
      else printEvent(event, screenOn(process.stdout));
    },
  );

const replayCommand = (): Command =>
  withEvent(new Command('replay').description('send a copy of an event to the current subscribers')).action(
    async (id: string, options: JsonOption) => {
      const { events } = await openClient(options);
      printSent(await events.replay(id), options.json);
    },
  );

const cancelCommand = (): Command =>
  withEvent(new Command('cancel').description('cancel a scheduled event before its delivery')).action(
    async (id: string, options: JsonOption) => {
      const { events } = await openClient(options);
      const event = await events.cancel(id);
      if (options.json) printJson(event);
      else printEvent(event, screenOn(process.stdout));
    },
  );

export const eventsCommand = (): Command =>
  new Command('events')
    .description('send events and list the runs they triggered')
    .addCommand(sendCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(replayCommand())
    .addCommand(cancelCommand());
