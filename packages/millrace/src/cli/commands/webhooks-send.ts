import type { Webhook } from '@millrace/contract';
import { failureIn } from '@millrace/contract/plain';
import type { WebhookVerification } from '@millrace/contract/runner';
import { Command, InvalidArgumentError } from 'commander';
import { readFile } from 'node:fs/promises';
import { refusalSentence } from '../../api/refusal-sentence.ts';
import { membersOf } from '../call.ts';
import { withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';
import { listedWebhooks } from '../webhook-calls.ts';

interface SendOptions extends ConnectionOptions {
  readonly body?: string;
  readonly bodyFile?: string;
  readonly type: string;
  readonly id?: string;
  readonly header: Readonly<Record<string, string>>;
  readonly secretFrom?: string;
  readonly json?: boolean;
}

function header(text: string, others: Readonly<Record<string, string>>): Record<string, string> {
  const [, name, value] = /^([A-Za-z0-9_-]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('Must be a name and a value, such as "X-GitHub-Event: push".');
  return { ...others, [name.toLowerCase()]: value };
}

export const webhookSendCommand = (): Command =>
  withConnectionOptions(
    new Command('send')
      .description('send a signed request to a webhook, as its provider would')
      .argument('<webhook>', 'webhook ID')
      .option('--body <text>', 'body of the request (default: {})')
      .option('--body-file <file>', 'file with the body of the request')
      .option('--type <type>', 'content type of the body', 'application/json')
      .option('--id <id>', "sender's ID of the request (default: random)")
      .option(
        '--header <header>',
        'additional header, such as "X-GitHub-Event: push"; repeatable',
        header,
        {},
      )
      .option(
        '--secret-from <name>',
        'environment variable of this command with the secret (default: the one that the webhook names)',
      )
      .option('--json', 'print JSON'),
  ).action(async (id: string, options: SendOptions) => {
    const webhooks = await listedWebhooks(options);
    const webhook = webhooks.find((listed) => listed.id === id);
    if (!webhook) {
      const known = webhooks.map((listed) => listed.id).join(', ') || 'none';
      throw new CommandFailed(
        exitCodes.failed,
        `The current version has no webhook "${id}". Its webhooks: ${known}.`,
      );
    }
    await send(webhook, options);
  });

async function send(
  webhook: Webhook,
  { id = crypto.randomUUID(), type, header: headers, json, ...options }: SendOptions,
): Promise<void> {
  const { signRequest } = await import('@millrace/server');
  const body = await bodyOf(options);
  const signed = signRequest(verificationOf(webhook), secretOf(webhook, options.secretFrom), {
    id,
    at: Date.now(),
    body,
  });
  const response = await fetch(webhook.url, {
    method: 'POST',
    headers: { 'content-type': type, ...headers, ...signed },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(30_000),
    redirect: 'error',
  }).catch((error: unknown) => {
    const { cause = error } = error as Error;
    throw new CommandFailed(
      exitCodes.cannotReach,
      `Cannot reach ${webhook.url}: ${(cause as Error).message}`,
    );
  });
  const reply = membersOf(await response.text());
  if (!response.ok) {
    const { code } = failureIn((name) => response.headers.get(name));
    const sentence = refusalSentence(response.status, response.statusText, reply);
    throw new CommandFailed(exitCodes.failed, code === undefined ? sentence : `${sentence} (${code})`);
  }
  if (json) return printJson(reply);
  const { line, paint } = screenOn(process.stdout);
  line(typeof reply['id'] === 'string' ? reply['id'] : JSON.stringify(reply));
  if (reply['isDuplicate'] === true) line(paint.dim('The request was received before. No run was started.'));
}

async function bodyOf({ body = '{}', bodyFile }: Pick<SendOptions, 'body' | 'bodyFile'>): Promise<Buffer> {
  if (bodyFile === undefined) return Buffer.from(body);
  return readFile(bodyFile).catch((error: unknown) => {
    throw new CommandFailed(exitCodes.failed, `Cannot read ${bodyFile}: ${(error as Error).message}`);
  });
}

function verificationOf({ scheme, secrets: named, signature, idHeader }: Webhook): WebhookVerification {
  const withId = idHeader === undefined ? {} : { idHeader };
  if (scheme === 'none') return { scheme, ...withId };
  const secrets = named.map(({ name }) => name);
  if (scheme !== 'hmac') return { scheme, secrets };
  return {
    scheme,
    secrets,
    ...withId,
    ...(signature as Omit<Extract<WebhookVerification, { scheme: 'hmac' }>, 'scheme' | 'secrets'>),
  };
}

/** From the environment of the command: a secret on the command line would be in the shell's history. */
function secretOf({ scheme, secrets }: Webhook, from: string | undefined): string {
  if (scheme === 'none') return '';
  const names = from === undefined ? secrets.map(({ name }) => name) : [from];
  for (const name of names) {
    const secret = process.env[name];
    if (secret) return secret;
  }
  throw new CommandFailed(
    exitCodes.failed,
    `The secret is not set: set ${names.join(' or ')} in the environment of this command, or name another variable with --secret-from.`,
  );
}
