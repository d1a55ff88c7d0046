import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * The source of a key: an environment variable, a file, or the output of a command (program and arguments; no shell), each with 32 bytes as
 * base64 or hex. Or the 32 bytes themselves.
 */
export type KeySource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly [program: string, ...args: string[]] }
  | Uint8Array;

const keyBytes = 32;
const commandMs = 30_000;

/** Reads a key. Errors name the key and its source, but never include the content. */
export function readKey(id: string, source: KeySource): Buffer {
  if (source instanceof Uint8Array) return sized(id, Buffer.from(source), 'it');
  if ('env' in source) {
    const text = process.env[source.env];
    if (text === undefined || text.trim() === '')
      throw new Error(`Key ${id} of the codec: the variable ${source.env} is not set.`);
    return sized(id, decoded(text), `the variable ${source.env}`);
  }
  if ('file' in source) return sized(id, decoded(fileText(id, source.file)), `the file ${source.file}`);
  if (Array.isArray(source.command) && typeof source.command[0] === 'string')
    return sized(id, decoded(printed(id, source.command)), `the output of ${source.command[0]}`);
  throw new TypeError(
    `Key ${id} of the codec must be { env }, { file }, { command: [program, …] } or 32 bytes.`,
  );
}

function fileText(id: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    // oxlint-disable-next-line preserve-caught-error -- the code says it all
    throw new Error(`Key ${id} of the codec: the file ${file} cannot be read (${codeOf(error)}).`);
  }
}

function printed(id: string, [program = '', ...args]: readonly string[]): string {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      timeout: commandMs,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (error) {
    // oxlint-disable-next-line preserve-caught-error -- the cause contains the command's output
    throw new Error(`Key ${id} of the codec: ${program} did not print the key (${codeOf(error)}).`);
  }
}

const codeOf = (error: unknown): string => {
  const { code, status } = error as { code?: unknown; status?: unknown };
  if (typeof code === 'string') return code;
  return typeof status === 'number' ? `exit code ${status}` : 'it failed';
};

function decoded(text: string): Buffer {
  const trimmed = text.trim();
  return /^[\da-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64');
}

function sized(id: string, key: Buffer, where: string): Buffer {
  if (key.length === keyBytes) return key;
  throw new Error(
    `Key ${id} of the codec: ${where} must be 32 bytes as base64 or hex, as \`openssl rand -base64 32\` prints them; it has ${key.length}.`,
  );
}
