import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Codec } from '@millrace/sdk';
import { type Command, Option } from 'commander';
import { configFiles } from '../project/config-files.ts';
import { CommandFailed, exitCodes } from './exit-codes.ts';

export interface CodecOptions {
  readonly dir: string;
  readonly codec?: string;
}

/** The option of commands that show or send sealed data. */
export const withCodecOption = (command: Command): Command =>
  command.addOption(
    new Option(
      '--codec <file>',
      'codec file that decrypts payloads and outputs (default: from the project in --dir)',
    ),
  );

const found = new Map<string, Promise<Codec | undefined>>();

/** The codec in the option, otherwise that of the project in the folder, if any. */
export function findCodec(options: CodecOptions): Promise<Codec | undefined> {
  const name = `${options.dir} ${options.codec ?? ''}`;
  let codec = found.get(name);
  if (!codec) found.set(name, (codec = load(options)));
  return codec;
}

async function load({ dir, codec }: CodecOptions): Promise<Codec | undefined> {
  const folder = resolve(dir);
  const file = codec === undefined ? await ofProject(folder) : resolve(codec);
  if (file === undefined) return undefined;
  if (!existsSync(file)) throw new CommandFailed(exitCodes.usage, `Codec file not found: ${file}`);
  const { evaluateConfig } = await import('../project/evaluate-config.ts');
  // Loaded from its own folder, which has its packages.
  const { default: exported } = await evaluateConfig(dirname(file), file);
  const { encode, decode } = Object(exported) as Partial<Codec>;
  if (typeof encode === 'function' && typeof decode === 'function') return exported as Codec;
  throw new CommandFailed(
    exitCodes.usage,
    `${file} has no codec as its default export: an object with encode and decode, such as aesGcmCodec({ … }).`,
  );
}

/** The code of a configuration is only executed if it may name a codec. */
async function ofProject(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  // The modules are only loaded if there is a configuration, because loading takes time.
  if (!names.some((file) => file.startsWith('millrace.config.'))) return undefined;
  const { readConfig } = await import('../project/read-config.ts');
  const name = configFiles.find((file) => existsSync(resolve(folder, file)));
  if (name === undefined || !/\bcodec\b/.test(await readFile(resolve(folder, name), 'utf8')))
    return undefined;
  const { config } = await readConfig(folder);
  return config.codec === undefined ? undefined : resolve(folder, config.codec);
}

/** A response with its sealed parts opened, as far as possible. Looks for a codec only if something is sealed. */
export async function opened<T>(options: CodecOptions, reply: T): Promise<T> {
  if (!/"\$?sealed":/.test(JSON.stringify(reply) ?? '')) return reply;
  const codec = await findCodec(options);
  if (!codec) return reply;
  const { openForPeople } = await import('@millrace/sdk/codec');
  return openForPeople(codec, reply);
}

/** A value formatted for a person. */
export function shownValue(value: unknown): string {
  const sealed = (Object(value) as { readonly $sealed?: { readonly key?: unknown } }).$sealed;
  return typeof sealed?.key === 'string' ? `sealed with key ${sealed.key}` : JSON.stringify(value);
}
