import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '@millrace/platform';
import { pages } from './pages.ts';

/** In the package or, for a checkout that was not built, in the repository. */
const folders = [join(packageFolder, 'pages'), join(packageFolder, '../../docs')];

function readPage(page: string): string {
  const file = folders.map((folder) => join(folder, `${page}.md`)).find((path) => existsSync(path));
  if (file === undefined) throw new Error(`The page ${page} is missing in this installation of millrace.`);
  return readFileSync(file, 'utf8');
}

/** In the format of a section's address. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

const sectionsOfTroubleshooting = (): readonly (readonly [anchor: string, text: string])[] =>
  readPage('troubleshooting')
    .split(/^## /m)
    .slice(1)
    .map((text) => [anchorOf(text.split('\n', 1)[0] ?? ''), `## ${text}`] as const);

/** The text of a section of the troubleshooting page, or of a page; undefined if there is none with this name. */
export function findTopic(topic: string): string | undefined {
  const found = sectionsOfTroubleshooting().find(([anchor]) => anchor === topic);
  if (found) return found[1];
  return pages.some((page) => page === topic) ? readPage(topic) : undefined;
}

/** The names of all sections and pages. */
export const topics = (): readonly string[] => [
  ...sectionsOfTroubleshooting().map(([anchor]) => anchor),
  ...pages,
];
