/** The programs of a page in docs/coming-from: the one of the other system, and the same one for Millrace. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../cli/command.ts';
import { codeBlocks, peerBlocks, type CodeBlock } from '../site/code-blocks.ts';
import { effectModules } from './effects.ts';

export interface Program {
  /** Contents by path. */
  readonly files: Readonly<Record<string, string>>;
  /** The last file that the page shows outside of folders: it is started, and imports the others. */
  readonly start: string;
}

export interface Page {
  readonly before: Program;
  readonly after: Program;
  /** The code before the move, with the declared modules that both programs import. */
  readonly peer: readonly CodeBlock[];
}

const declared = Object.keys(effectModules('effects'));

export async function readPage(name: string): Promise<Page> {
  const path = join('docs/coming-from', `${name}.md`);
  const markdown = await readFile(join(repository, path), 'utf8');
  const peer = peerBlocks(path, markdown);
  const ours = codeBlocks(path, markdown);
  return {
    before: programOf(peer),
    after: programOf(ours),
    peer: [...peer, ...ours.filter(({ file }) => file !== undefined && declared.includes(file))],
  };
}

function programOf(blocks: readonly CodeBlock[]): Program {
  const files = blocks.flatMap(({ file, code }) => (file === undefined ? [] : [[file, code] as const]));
  const start = blocks.findLast(({ file, isHidden }) => !isHidden && file?.includes('/') === false)?.file;
  if (start === undefined) throw new Error(`${blocks[0]?.page}: no block is a file to start.`);
  return { files: Object.fromEntries(files), start };
}
