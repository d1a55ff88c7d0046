/** The site of the documentation: `npm run docs` serves it, `npm run docs:build` writes it to docs/.vitepress/dist. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type DefaultTheme } from 'vitepress';
import { serveTexts, textAddress, writeTexts } from './files.ts';
import { searchedSections } from './reference.ts';
import { sidebar } from './sidebar.ts';
import { slugOf } from './slug.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Folders with pages that are not part of the site. */
const excluded = ['packages', 'test', '.github'];

type Split = NonNullable<NonNullable<DefaultTheme.LocalSearchOptions['miniSearch']>['_splitIntoSections']>;

/** Whether a link of a page leads to another page of the site. */
function isPage(from: string, link: string): boolean {
  const [path = ''] = link.split('#');
  if (path === '') return true;
  const target = resolve(repository, dirname(from), path);
  return (
    path.endsWith('.md') &&
    existsSync(target) &&
    !excluded.some((folder) => target.startsWith(join(repository, folder)))
  );
}

export default defineConfig({
  title: 'Millrace',
  description: 'Background tasks in TypeScript on PostgreSQL',
  srcDir: '..',
  srcExclude: excluded.map((folder) => `${folder}/**`),
  rewrites: { 'README.md': 'index.md' },
  // Nothing is loaded from elsewhere, so the site works offline.
  head: [],
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // The default finds nothing in generated pages, such as those of the reference. It splits a page for which this returns undefined.
          _splitIntoSections: ((path: string) =>
            dirname(path).endsWith('/reference')
              ? searchedSections(basename(path, '.md'))
              : undefined) as Split,
        },
      },
    },
    sidebar,
    outline: [2, 3],
    nav: [
      { text: 'Reference', link: '/docs/reference/runs' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
  },
  vite: { plugins: [serveTexts()] },
  buildEnd: ({ outDir }) => writeTexts(outDir),
  markdown: {
    // A tag in a page is text.
    html: false,
    anchor: { slugify: slugOf },
    config(md) {
      // Comments are for editors of a page.
      md.core.ruler.before('normalize', 'comments', (state) => {
        state.src = state.src.replaceAll(/^<!--[\s\S]*?-->$/gm, '');
      });
      // Other files of the repository, such as an example configuration, are linked as text.
      md.core.ruler.push('links-to-files', ({ tokens, env }) => {
        const { relativePath = '' } = env as { readonly relativePath?: string };
        const from = relativePath === 'index.md' ? 'README.md' : relativePath;
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          if (token.type !== 'link_open') continue;
          const href = token.attrGet('href') ?? '';
          if (/^(?:[a-z]+:|\/|#)/.test(href)) continue;
          const [path = '', anchor] = href.split('#');
          const target = join(dirname(from), path);
          // VitePress rewrites the page but not the links to it.
          if (target === 'README.md') token.attrSet('href', anchor === undefined ? '/' : `/#${anchor}`);
          else if (!isPage(from, href)) token.attrSet('href', textAddress(target));
        }
      });
    },
  },
});
