import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Found {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];

/** The rules that check colors. */
const rulesOfColors = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** Accessibility problems that axe finds on the page. */
async function violations(page: Page, runOnly: unknown): Promise<string[]> {
  // Details of passed checks and style sheets of other hosts are not needed.
  const options = { runOnly, resultTypes: ['violations'], preload: false };
  const found = await page.evaluate<Found[]>(
    `axe.run(document, ${JSON.stringify(options)}).then((result) => result.violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
    );
}

/**
 * The problems in both themes. The page was loaded in one of them and switches to the other, as with the system's setting, so that the next
 * page is loaded in that one. A theme changes only colors, so the other rules are checked in one of them.
 */
export async function violationsInBothThemes(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const isDark = await page.evaluate<boolean>("matchMedia('(prefers-color-scheme: dark)').matches");
  const found: string[] = [];
  const check = async (colorScheme: 'dark' | 'light', runOnly: unknown): Promise<void> => {
    await page.emulateMedia({ colorScheme });
    for (const problem of await violations(page, runOnly)) found.push(`${problem} (${colorScheme})`);
  };
  await check(isDark ? 'dark' : 'light', tags);
  await check(isDark ? 'light' : 'dark', rulesOfColors);
  return found;
}
