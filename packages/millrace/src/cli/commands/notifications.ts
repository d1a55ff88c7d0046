import { setTimeout } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import type { CreateEndpointOptions, NotificationDelivery, NotificationEndpoint } from '@millrace/sdk';
import { deliveryStatuses, type DeliveryStatus } from '@millrace/contract/plain';
import { Command, Option } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { address, smtpAddress, type SmtpAddress } from '../options.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsFor } from '../waiting.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

const withJson = (command: Command): Command => withConnectionOptions(command.option('--json', 'print JSON'));

const stateOf = ({ enabled, disabledBy, failingSince }: NotificationEndpoint): string => {
  if (!enabled) return `disabled (${disabledBy})`;
  return failingSince ? `failing since ${failingSince.toISOString()}` : 'good';
};

const listCommand = (): Command =>
  withJson(new Command('list').description('list endpoints, oldest first')).action(
    async (options: JsonOption) => {
      const { notifications } = await openClient(options);
      const found = await notifications.listEndpoints();
      if (options.json) return found.forEach(printJson);
      printTable(
        ['endpoint', 'kind', 'address', 'types', 'state'],
        found.map((each) => [
          each.id,
          each.kind,
          each.mail ? each.mail.to.join(', ') : each.url,
          each.types.join(','),
          stateOf(each),
        ]),
      );
    },
  );

/** A secret is read from stdin, because other users of the machine can see the arguments of a command. */
async function secretOnStdin(what: string): Promise<string> {
  waitsFor(`${what} on stdin (end it with Ctrl-D)`);
  const input = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (input !== '') return input;
  throw new CommandFailed(exitCodes.usage, `Send ${what} on stdin.`);
}

async function add(options: JsonOption, endpoint: CreateEndpointOptions): Promise<void> {
  const { notifications } = await openClient(options);
  const created = await notifications.createEndpoint(endpoint);
  if (options.json) return printJson(created);
  const { line } = screenOn(process.stdout);
  if (created.secret !== undefined) line(created.secret);
  line(
    created.secret === undefined
      ? `Added ${created.id}. Test it: millrace notifications test ${created.id}`
      : `The signing secret of ${created.id} is shown only once.`,
  );
}

const typesOption = (fallback?: string): Option =>
  new Option('--types <types>', 'notification types, separated by commas')
    .argParser((value: string) => value.split(',').map((type) => type.trim()))
    .default(fallback?.split(','), fallback);

interface AddOptions extends JsonOption {
  readonly types?: string[];
  readonly description?: string;
}

const withAddOptions = (command: Command, types?: string): Command =>
  withJson(
    command.addOption(typesOption(types)).option('--description <text>', 'description of the endpoint'),
  );

const common = ({ types, description }: AddOptions) => ({
  ...(types && { types }),
  ...(description !== undefined && { description }),
});

const addWebhookCommand = (): Command =>
  withAddOptions(
    new Command('webhook')
      .description('add a webhook that receives signed requests')
      .argument('<url>', 'URL of the webhook', address),
    '*',
  ).action((url: string, options: AddOptions) => add(options, { types: ['*'], ...common(options), url }));

const addSlackCommand = (): Command =>
  withAddOptions(
    new Command('slack').description('add a Slack-compatible webhook for alerts (URL on stdin)'),
  ).action(async (options: AddOptions) => {
    const url = address(await secretOnStdin('the address of the incoming webhook'));
    await add(options, { ...common(options), kind: 'slack', url });
  });

interface MailOptions extends AddOptions {
  readonly smtp: SmtpAddress;
  readonly from: string;
  readonly to: readonly string[];
}

const addMailCommand = (): Command =>
  withAddOptions(
    new Command('email')
      .description('add email recipients for alerts (SMTP password on stdin)')
      .requiredOption(
        '--smtp <url>',
        'URL of the mail server, such as smtps://user@smtp.example.com:465, or smtp://…:587 for STARTTLS',
        smtpAddress,
      )
      .requiredOption('--from <address>', 'sender address')
      .requiredOption('--to <address>', 'recipient address; repeatable', (to: string, all?: string[]) => [
        ...(all ?? []),
        to,
      ]),
  ).action(async (options: MailOptions) => {
    const { smtp, from, to } = options;
    const password =
      smtp.user === undefined ? undefined : await secretOnStdin('the password of the mail server');
    await add(options, {
      ...common(options),
      kind: 'email',
      smtp: { ...smtp, ...(password !== undefined && { password }) },
      from,
      to: [...to],
    });
  });

const pollMs = 500;
const testMs = 20_000;

const testCommand = (): Command =>
  withJson(
    new Command('test')
      .description('send a test message and wait for the first attempt')
      .argument('<endpoint>', 'endpoint ID (endpoint_…)'),
  ).action(async (id: string, options: JsonOption) => {
    const { notifications } = await openClient(options);
    let delivery = await notifications.testEndpoint(id);
    const isOpen = () => delivery.status === 'PENDING' && delivery.failure === null;
    for (const end = Date.now() + testMs; isOpen() && Date.now() < end;) {
      await setTimeout(pollMs);
      delivery = await notifications.retrieveDelivery(delivery.id);
    }
    if (options.json) printJson(delivery);
    if (delivery.status === 'DELIVERED') {
      const note = delivery.failure === null ? '' : ` ${delivery.failure}.`;
      if (!options.json) screenOn(process.stdout).line(`Delivered.${note}`);
      return;
    }
    throw new CommandFailed(
      exitCodes.failed,
      `Not delivered: ${delivery.failure ?? 'no response yet'}. It will be retried. See \`millrace notifications deliveries\`.`,
    );
  });

const switchCommand = (verb: 'enable' | 'disable', description: string): Command =>
  withJson(
    new Command(verb).description(description).argument('<endpoint>', 'endpoint ID (endpoint_…)'),
  ).action(async (id: string, options: JsonOption) => {
    const { notifications } = await openClient(options);
    const changed = await notifications.updateEndpoint(id, { enabled: verb === 'enable' });
    if (options.json) return printJson(changed);
    screenOn(process.stdout).line(`${id} is ${verb}d.`);
  });

const removeCommand = (): Command =>
  withJson(
    new Command('remove')
      .description('delete an endpoint and its deliveries')
      .argument('<endpoint>', 'endpoint ID (endpoint_…)'),
  ).action(async (id: string, options: JsonOption) => {
    const { notifications } = await openClient(options);
    const removed = await notifications.deleteEndpoint(id);
    if (options.json) return printJson(removed);
    screenOn(process.stdout).line(`Deleted ${id}.`);
  });

const rowOf = (each: NotificationDelivery): string[] => [
  each.id,
  each.type,
  each.endpointId,
  each.status,
  String(each.attempts),
  each.createdAt.toISOString(),
  each.failure ?? '',
];

const deliveriesCommand = (): Command =>
  withJson(
    new Command('deliveries')
      .description('list deliveries, newest first')
      .addOption(new Option('--status <status>', 'filter by status').choices(deliveryStatuses))
      .option('--endpoint <id>', 'filter by endpoint ID'),
  ).action(async (options: JsonOption & { status?: DeliveryStatus; endpoint?: string }) => {
    const { status, endpoint } = options;
    const { notifications } = await openClient(options);
    const { data } = await notifications.listDeliveries({
      limit: 50,
      ...(status && { status: [status] }),
      ...(endpoint !== undefined && { endpoint: [endpoint] }),
    });
    if (options.json) return data.forEach(printJson);
    printTable(['delivery', 'type', 'endpoint', 'status', 'attempts', 'created', 'failure'], data.map(rowOf));
  });

const replayCommand = (): Command =>
  withJson(
    new Command('replay')
      .description('send a delivery again, starting from the first attempt')
      .argument('<delivery>', 'delivery ID (delivery_…)'),
  ).action(async (id: string, options: JsonOption) => {
    const { notifications } = await openClient(options);
    const delivery = await notifications.replayDelivery(id);
    if (options.json) return printJson(delivery);
    screenOn(process.stdout).line(`${id} is sent again.`);
  });

export const notificationsCommand = (): Command =>
  new Command('notifications')
    .description('manage endpoints that receive notifications and alerts')
    .addCommand(listCommand())
    .addCommand(
      new Command('add')
        .description('add an endpoint')
        .addCommand(addWebhookCommand())
        .addCommand(addSlackCommand())
        .addCommand(addMailCommand()),
    )
    .addCommand(testCommand())
    .addCommand(switchCommand('enable', 'enable an endpoint and reset its failures'))
    .addCommand(switchCommand('disable', 'disable an endpoint'))
    .addCommand(removeCommand())
    .addCommand(deliveriesCommand())
    .addCommand(replayCommand());
