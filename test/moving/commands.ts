import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../cli/command.ts';

/** The commands in the first block of docs/moving.md. */
export async function commandsOfPage(): Promise<string[]> {
  const page = await readFile(join(repository, 'docs/moving.md'), 'utf8');
  return /```sh\n([^`]*)```/.exec(page)?.[1]?.trim().split('\n') ?? [];
}
