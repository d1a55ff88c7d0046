import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '@millrace/platform';

/** Folders of the documentation with pages for users. Decisions are not in the package. */
const folders = ['', 'coming-from'];

/** In the package or, for a checkout that was not built, in the repository. */
const root = [join(packageFolder, 'pages'), join(packageFolder, '../../docs')].find((folder) =>
  existsSync(join(folder, 'troubleshooting.md')),
);

/** The names of the pages below a folder, such as `retries` and `coming-from/bullmq`. */
export const pagesBelow = (docs: string): readonly string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(docs, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => [folder, file.slice(0, -'.md'.length)].filter(Boolean).join('/'))
      .toSorted(),
  );

function installed(): string {
  if (root === undefined) throw new Error('This installation of millrace lacks its documentation.');
  return root;
}

export const pageNames = (): readonly string[] => pagesBelow(installed());

export const readPage = (name: string): string => readFileSync(join(installed(), `${name}.md`), 'utf8');
