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
        ? paint.yellow(
            'An event with this id was there before, with other content. It stands; nothing was done.',
          )
        : paint.dim('The event was there before. Nothing was done.'),
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
      .description('send an event; each task that subscribes to it gets a run')
      .argument('<name>', 'such as order.created')
      .option('--payload <json>', 'what the runs are given', json)
      .option('--id <id>', 'the same event when it is sent again under it; default: a random one')
      .option('--source <text>', 'where it comes from')
      .option('--deliver-at <date>', 'not before then, such as 2026-01-15T12:00:00Z', instant)
      .option('--deliver-after <duration>', 'not before so long from now, such as 1h30m')
      .option('--json', 'one line of JSON'),
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
      .description('events, newest first')
      .option('--name <name>', 'with this name')
      .addOption(new Option('--status <status>', 'in one state').choices(eventStatuses))
      .option('--limit <count>', 'at most', positiveInteger, 25)
      .option('--json', 'a line of JSON for each event'),
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
  withConnectionOptions(command.argument('<event>', 'its id').option('--json', 'one line of JSON'));

const showCommand = (): Command =>
  withEvent(new Command('show').description('one event and the runs that it started')).action(
    async (id: string, options: JsonOption) => {
      const { events } = await openClient(options);
      const event = await events.retrieve(id);
      if (options.json) printJson(event);
      else printEvent(event, screenOn(process.stdout));
    },
  );

const replayCommand = (): Command =>
  withEvent(
    new Command('replay').description('send an event again, as another one, to what subscribes to it now'),
  ).action(async (id: string, options: JsonOption) => {
    const { events } = await openClient(options);
    printSent(await events.replay(id), options.json);
  });

const cancelCommand = (): Command =>
  withEvent(
    new Command('cancel').description('keep an event that waits for its time from being delivered'),
  ).action(async (id: string, options: JsonOption) => {
    const { events } = await openClient(options);
    const event = await events.cancel(id);
    if (options.json) printJson(event);
    else printEvent(event, screenOn(process.stdout));
  });

export const eventsCommand = (): Command =>
  new Command('events')
    .description('what happened, told once, and the runs that it started')
    .addCommand(sendCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(replayCommand())
    .addCommand(cancelCommand());
