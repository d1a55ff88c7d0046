/** The code blocks of a page of docs, in page order. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../cli/command.ts';

export interface Page {
  /** The next block, which must contain this text. This makes the order of the blocks visible in the test. */
  next(fragment: string): string;
  /** Blocks that the test has not run. */
  left(): readonly string[];
}

export async function readPage(name: string): Promise<Page> {
  const text = await readFile(join(repository, 'docs', name), 'utf8');
  const blocks = [...text.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  return {
    next(fragment) {
      const block = blocks.shift() ?? '';
      if (!block.includes(fragment))
        throw new Error(`The next block of the page does not contain ${JSON.stringify(fragment)}:\n${block}`);
      return block;
    },
    left: () => blocks,
  };
}

/** Replacements for texts or patterns of the page, applied in this order. */
export type Replacements = readonly (readonly [found: string | RegExp, typed: string])[];

export const replaced = (text: string, replacements: Replacements): string =>
  replacements.reduce(
    (typed, [found, other]) =>
      typeof found === 'string' ? typed.replaceAll(found, other) : typed.replace(found, other),
    text,
  );
