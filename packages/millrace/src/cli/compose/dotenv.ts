import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inherited } from '@millrace/runner';
import { parse } from 'dotenv';

/** The project's `.env` for `millrace dev`. */
export interface ProjectVariables {
  /** Inherited by executors: the file, overridden by the environment of `dev` itself. */
  readonly env: Readonly<Record<string, string>>;
  /** One line about the file, with names only; undefined without a file. */
  readonly summary: string | undefined;
}

export async function projectVariables(dir: string): Promise<ProjectVariables> {
  const outside = inherited();
  const text = await readFile(join(dir, '.env'), 'utf8').catch((error: NodeJS.ErrnoException) => error);
  if (text instanceof Error) {
    return {
      env: outside,
      summary: text.code === 'ENOENT' ? undefined : `.env is not used: ${text.message}`,
    };
  }
  const used: Record<string, string> = {};
  const notUsed: string[] = [];
  for (const [name, value] of Object.entries(parse(text.replace(/^\uFEFF/, '')))) {
    const why = whyNot(name, value, outside);
    if (why === undefined) used[name] = value;
    else notUsed.push(`${name} (${why})`);
  }
  const names = Object.keys(used).join(', ') || 'no variables';
  const others = notUsed.length === 0 ? '' : `; not used: ${notUsed.join(', ')}`;
  return { env: { ...used, ...outside }, summary: `.env sets ${names} for tasks${others}` };
}

function whyNot(name: string, value: string, outside: Readonly<Record<string, string>>): string | undefined {
  if (name.startsWith('MILLRACE_')) return 'a Millrace setting';
  if (name in outside) return 'set in the environment of dev';
  return value.includes('\0') ? 'contains a NUL character' : undefined;
}
