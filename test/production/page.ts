/** The page docs/production.md as its reader meets it: blocks in their order. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../cli/command.ts';

export interface Page {
  /** The next block, which has this text. So the test says in which order it types what. */
  next(fragment: string): string;
  /** Blocks that nobody has typed. */
  left(): readonly string[];
}

export async function readPage(): Promise<Page> {
  const text = await readFile(join(repository, 'docs/production.md'), 'utf8');
  const blocks = [...text.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  return {
    next(fragment) {
      const block = blocks.shift() ?? '';
      if (!block.includes(fragment))
        throw new Error(`The next block of the page has no ${JSON.stringify(fragment)}:\n${block}`);
      return block;
    },
    left: () => blocks,
  };
}

/** What is typed for what the page has, in this order: a text, or a pattern with its groups. */
export type Replacements = readonly (readonly [found: string | RegExp, typed: string])[];

export const replaced = (text: string, replacements: Replacements): string =>
  replacements.reduce(
    (typed, [found, other]) =>
      typeof found === 'string' ? typed.replaceAll(found, other) : typed.replace(found, other),
    text,
  );
