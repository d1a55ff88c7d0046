/** Only the start of a page is searched for its title. */
const maxSearched = 2_000;
const maxTitle = 100;

/**
 * The sentence for a response that is a web page. It is from a proxy or another program: a Millrace server sends JSON. Undefined for other responses.
 *
 * @example
 * foreignPage(502, '<html><title>Bad Gateway</title>…');
 * // 502 from a proxy or another program, not from a Millrace server: "Bad Gateway"
 */
export function foreignPage(status: number, text: string): string | undefined {
  // Stores of large payloads send XML.
  if (!/^\s*<(?!\?xml)/.test(text)) return undefined;
  const start = text.slice(0, maxSearched);
  const title = /<title[^>]*>([^<]*)/i.exec(start)?.[1] ?? start.replace(/<[^>]*>?/g, ' ');
  const line = title
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, maxTitle);
  return `${status} from a proxy or another program, not from a Millrace server${line === '' ? '' : `: "${line}"`}`;
}
