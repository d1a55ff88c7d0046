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
  withProjectOptions(command).option('--env <environment>', 'whose keys', environment, 'dev');

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
    new Command('list').description("an environment's secret keys, without their texts; dev is your own"),
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
  line(`It is shown this once. Its id is ${key.id}.`);
}

interface CreateOptions extends KeyOptions {
  readonly preset: Preset;
  readonly task: readonly string[];
  readonly expires?: string;
}

export const createKeyCommand = (): Command =>
  withKeyOptions(
    new Command('create')
      .description('make a secret key and show it once')
      .argument('<name>', 'what it is for')
      .addOption(new Option('--preset <preset>', 'what it may do').choices(presets).default('full'))
      .option(
        '--task <id>',
        'only this task; may be repeated',
        (id: string, all: string[]) => [...all, id],
        [],
      )
      .option('--expires <date>', 'when it ends, for instance 2027-01-31T00:00:00Z'),
  ).action(async (name: string, options: CreateOptions) => {
    const { login, params } = await targetOf(options);
    const { preset, task, expires } = options;
    const body = { name, preset, expiresAt: expires, ...(task.length > 0 && { tasks: task }) };
    printNew(await call(login, 'createKey', { params, body }), options.json);
  });

export const rotateKeyCommand = (): Command =>
  withKeyOptions(
    new Command('rotate')
      .description('make a key like another one, which ends after the overlap')
      .argument('<key>', 'its id (key_…)')
      .option('--overlap <span>', 'for how long both are good', '24h'),
  ).action(async (keyId: string, options: KeyOptions & { overlap: string }) => {
    const { login, params } = await targetOf(options);
    const body = { overlap: options.overlap };
    printNew(await call(login, 'rotateKey', { params: { ...params, keyId }, body }), options.json);
  });

export const revokeKeyCommand = (): Command =>
  withKeyOptions(
    new Command('revoke')
      .description('end a key, and every token made through it, at once')
      .argument('<key>', 'its id (key_…)'),
  ).action(async (keyId: string, options: KeyOptions) => {
    const { login, params } = await targetOf(options);
    const key = await call(login, 'revokeKey', { params: { ...params, keyId } });
    if (options.json) return printJson(key);
    screenOn(process.stdout).line(`Revoked ${key.name} (…${key.lastFour}).`);
  });
