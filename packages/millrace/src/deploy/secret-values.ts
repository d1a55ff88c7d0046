import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Problem } from '@millrace/diagnostics';
import { parse } from 'dotenv';
import type { Output } from '../bundle/build.ts';

/** A value that must not be in a bundle. */
export interface SecretValue {
  readonly name: string;
  readonly value: string;
  /** Its source, for messages: `a secret variable of the environment`, `.env`. */
  readonly from: string;
}

/** Shorter values occur in programs by chance. */
const minLength = 8;

export const isDotenv = (path: string): boolean => /(?:^|\/)\.env(?:\.[^/]*)?$/.test(path);

/** Values of the project's `.env` files that look like secrets. */
export async function dotenvSecrets(dir: string): Promise<SecretValue[]> {
  const found: SecretValue[] = [];
  for (const file of await readdir(dir)) {
    if (!isDotenv(file) || /\.(?:example|sample|template)$/.test(file)) continue;
    const text = await readFile(join(dir, file), 'utf8').catch(() => '');
    for (const [name, value] of Object.entries(parse(text.replace(/^\uFEFF/, ''))))
      if (looksSecret(name, value)) found.push({ name, value, from: file });
  }
  return found;
}

/** Determined by its name, or because it is a URL with a password or a long text of letters and digits. */
function looksSecret(name: string, value: string): boolean {
  if (/^(?:[a-z]+|[\d.]+)$/i.test(value) && value.length < 16) return false;
  if (/key|secret|token|passw|pwd|credential|private|auth|dsn/i.test(name)) return true;
  if (/^[a-z][\w+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i.test(value)) return true;
  return (
    /^[\w+/=.-]{20,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value) && !/\.\w{2,4}$/.test(value)
  );
}

/** One problem for each secret value in a file of a bundle. The messages do not contain the values. */
export function findSecrets(outputs: readonly Output[], secrets: readonly SecretValue[]): Problem[] {
  const problems: Problem[] = [];
  for (const { name, value, from } of secrets) {
    if (value.length < minLength) continue;
    // Verbatim, and as a string in JavaScript or a source map.
    const quoted = JSON.stringify(value).slice(1, -1);
    const needles = [...new Set([value, quoted, JSON.stringify(quoted).slice(1, -1)])].map((text) =>
      Buffer.from(text),
    );
    const leak = outputs.find(({ contents }) => {
      const bytes = Buffer.from(contents.buffer, contents.byteOffset, contents.byteLength);
      return needles.some((needle) => bytes.includes(needle));
    });
    if (leak)
      problems.push({
        file: leak.path.replace(/\.map$/, ''),
        line: null,
        column: null,
        message: `contains the value of ${name} (${from}): read it from process.env when the task runs`,
      });
  }
  return problems;
}
