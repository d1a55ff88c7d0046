export interface Section {
  /** The last part of its address, such as `rate-limits` in `triggering.md#rate-limits`. */
  readonly anchor: string;
  /** The level of its heading: 2 for the sections of a page, 3 for their parts. */
  readonly level: number;
  /** Its heading and text, as Markdown, with its parts. */
  readonly text: string;
}

/** The sections of a page and their parts. */
export function sectionsOf(markdown: string): readonly Section[] {
  const lines = markdown.split('\n');
  const headings: { readonly level: number; readonly title: string; readonly at: number }[] = [];
  let isCode = false;
  for (const [at, line] of lines.entries()) {
    if (line.startsWith('```')) isCode = !isCode;
    const [, marks = '', title = ''] = (!isCode && /^(#{2,3}) (.*)$/.exec(line)) || [];
    if (title !== '') headings.push({ level: marks.length, title, at });
  }
  return headings.map(({ level, title, at }) => {
    const next = headings.find((other) => other.at > at && other.level <= level);
    return { anchor: anchorOf(title), level, text: lines.slice(at, next?.at).join('\n') };
  });
}

/** In the format of a section's address. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
