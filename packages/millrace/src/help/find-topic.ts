import { pageNames, readPage } from './pages.ts';
import { sectionsOf } from './sections.ts';

/** A topic's text as Markdown, or the topics that its name may stand for. */
export type Found = { readonly text: string } | { readonly candidates: readonly string[] };

/** The sections of the troubleshooting page. Error messages name them without the page. */
const ofMessages = (): readonly string[] =>
  sectionsOf(readPage('troubleshooting'))
    .filter(({ level }) => level === 2)
    .map(({ anchor }) => anchor);

/** The names of the sections that error messages refer to, and of all pages. */
export const topics = (): readonly string[] => [...ofMessages(), ...pageNames()];

/** The sections of a page, as topics; undefined if there is no such page. */
export function topicsOf(page: string): readonly string[] | undefined {
  if (!pageNames().includes(page)) return undefined;
  return sectionsOf(readPage(page)).map(({ anchor }) => `${page}#${anchor}`);
}

/**
 * Finds a section of the troubleshooting page, a page, or a section of any page: `not-found`, `retries`, `stop-retrying`, `retries#stop-retrying`. Also
 * accepts an address in an error response, `docs/troubleshooting.md#not-found`.
 */
export function findTopic(name: string): Found {
  const [page = '', anchor] = name
    .replace(/^docs\//, '')
    .replace(/^#/, 'troubleshooting#')
    .split('#');
  const named = page.replace(/\.md$/, '');
  if (anchor !== undefined) return sectionIn([named], anchor);
  const ofMessage = sectionIn(['troubleshooting'], named);
  if ('text' in ofMessage) return ofMessage;
  return pageNames().includes(named) ? { text: readPage(named) } : sectionIn(pageNames(), named);
}

function sectionIn(pages: readonly string[], anchor: string): Found {
  const found = pages
    .filter((page) => pageNames().includes(page))
    .flatMap((page) => {
      const section = sectionsOf(readPage(page)).find((candidate) => candidate.anchor === anchor);
      return section ? [{ topic: `${page}#${anchor}`, text: section.text }] : [];
    });
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return { text: first.text };
  return { candidates: found.map(({ topic }) => topic) };
}
