import { sidebar } from '../../docs/.vitepress/sidebar.ts';

/** The list of the pages in the format of llmstxt.org, in the order of the documentation site. `texts`: Markdown by page. */
export function pageList(texts: ReadonlyMap<string, string>): string {
  const groups = sidebar.flatMap(({ text, items }) => {
    const lines = items.flatMap(({ link, text: title }) => {
      const name = link.replace(/^\/docs\//, '');
      const markdown = texts.get(name);
      return markdown === undefined ? [] : [`- [${title}](pages/${name}.md): ${summaryOf(markdown)}`];
    });
    return lines.length > 0 ? [`## ${text}\n\n${lines.join('\n')}`] : [];
  });
  return `${head}\n\n${groups.join('\n\n')}\n`;
}

const head = `# Millrace

> Background tasks in TypeScript on PostgreSQL: queues, retries, schedules, events, error groups and an HTTP API.

These pages are those of this version. \`npx millrace help <page>\` prints one, \`npx millrace help <page> --list\` its sections, and
\`npx millrace help <section>\` a section, all without a network connection.`;

/** The first sentence of the page's text. */
function summaryOf(markdown: string): string {
  const paragraphs = markdown.replaceAll(/<!--[\s\S]*?-->/g, '').split(/\n\s*\n/);
  const first = paragraphs.find((paragraph) => /^[A-Z0-9`[]/.test(paragraph.trim())) ?? '';
  const text = first
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
}
