import type { SecretKey } from '@millrace/contract';
import { presets, type Preset } from '@millrace/contract/plain';
import { Command, Option } from 'commander';
import { call } from '../call.ts';
import { environment } from '../options.ts';
import { printTable } from '../print-table.ts';
import { findProject, withProjectOptions, type ProjectOptions } from '../project.ts';
import { printJson, screenOn } from '../screen.ts';

interface KeyOptions extends ProjectOptions {
  readonly env: string;
}

const withKeyOptions = (command: Command): Command =>
  withProjectOptions(command).option('--env <environment>', 'environment of the keys', environment, 'dev');

async function targetOf(options: KeyOptions) {
  const { login, projectRef } = await findProject(options);
  return { login, params: { projectRef, env: options.env } };
}

export const stateOf = ({ revokedAt, expiresAt }: Pick<SecretKey, 'revokedAt' | 'expiresAt'>): string =>
  revokedAt
    ? 'revoked'
    : expiresAt === undefined
      ? 'good'
      : new Date(expiresAt) > new Date()
        ? `until ${expiresAt}`
        : 'expired';

export const listKeysCommand = (): Command =>
  withKeyOptions(
    new Command('list').description('list the secret keys of an environment, without values'),
  ).action(async (options: KeyOptions) => {
    const { login, params } = await targetOf(options);
    const { data } = await call(login, 'listKeys', { params });
    if (options.json) return data.forEach(printJson);
    printTable(
      ['key', 'ends in', 'name', 'preset', 'tasks', 'last used', 'state'],
      data.map((key) => [
        key.id,
        key.lastFour,
        key.name,
        key.preset ?? '',
        key.tasks?.join(',') ?? 'all',
        key.lastUsedAt ?? 'never',
        stateOf(key),
      ]),
    );
  });

function printNew(key: SecretKey & { key: string }, json: boolean | undefined): void {
  if (json) return printJson(key);
  const { line } = screenOn(process.stdout);
  line(key.key);
  line(`The key is shown only once. Its ID is ${key.id}.`);
}

interface CreateOptions extends KeyOptions {
  readonly preset: Preset;
  readonly task: readonly string[];
  readonly expires?: string;
}

export const createKeyCommand = (): Command =>
  withKeyOptions(
    new Command('create')
      .description('create a secret key and print it once')
      .argument('<name>', 'name of the key')
      .addOption(new Option('--preset <preset>', 'permissions').choices(presets).default('full'))
      .option(
        '--task <id>',
        'restrict the key to this task; repeatable',
        (id: string, all: string[]) => [...all, id],
        [],
      )
      .option('--expires <date>', 'expiry date, such as 2027-01-31T00:00:00Z'),
  ).action(async (name: string, options: CreateOptions) => {
    const { login, params } = await targetOf(options);
    const { preset, task, expires } = options;
    const body = { name, preset, expiresAt: expires, ...(task.length > 0 && { tasks: task }) };
    printNew(await call(login, 'createKey', { params, body }), options.json);
  });

export const rotateKeyCommand = (): Command =>
  withKeyOptions(
    new Command('rotate')
      .description('replace a key; both are valid during the overlap')
      .argument('<key>', 'key ID (key_…)')
      .option('--overlap <duration>', 'how long both keys are valid', '24h'),
  ).action(async (keyId: string, options: KeyOptions & { overlap: string }) => {
    const { login, params } = await targetOf(options);
    const body = { overlap: options.overlap };
    printNew(await call(login, 'rotateKey', { params: { ...params, keyId }, body }), options.json);
  });

export const revokeKeyCommand = (): Command =>
  withKeyOptions(
    new Command('revoke')
      .description('revoke a key and all tokens created with it')
      .argument('<key>', 'key ID (key_…)'),
  ).action(async (keyId: string, options: KeyOptions) => {
    const { login, params } = await targetOf(options);
    const key = await call(login, 'revokeKey', { params: { ...params, keyId } });
    if (options.json) return printJson(key);
    screenOn(process.stdout).line(`Revoked ${key.name} (…${key.lastFour}).`);
  });
