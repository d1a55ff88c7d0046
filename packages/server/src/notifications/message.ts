import type { bodyOf } from './body.ts';

type Body = ReturnType<typeof bodyOf>;

/** The readable form of a notification: plain text without line breaks in its parts. */
export interface Message {
  readonly title: string;
  readonly lines: readonly string[];
}

const maxTitle = 300;
const maxLine = 500;

export function messageOf({ type, data, project, environment }: Body): Message {
  const where = `${project.name} ${environment.slug}`;
  const { headline, lines } = contentOf(type, data);
  return { title: cut(`[${where}] ${headline}`, maxTitle), lines: lines.map((line) => cut(line, maxLine)) };
}

function contentOf(type: string, data: Body['data']): { headline: string; lines: string[] } {
  if (type === 'endpoint.test')
    return { headline: 'Test message', lines: ['Alerts of this environment are sent here.'] };
  if (type === 'endpoint.disabled')
    return {
      headline: `The notification endpoint ${String(data['id'])} was disabled`,
      lines: [`${String(data['url'])}: ${String(data['reason'])}`],
    };
  const { summary, name, items = [], count = 0 } = data as Partial<AlertData>;
  const more = count - items.length;
  return {
    headline: `${name === undefined ? '' : `${name}: `}${summary ?? type}`,
    lines: [...items.map(({ text }) => text), ...(more > 0 ? [`and ${more} more`] : [])],
  };
}

/** The displayed part of the data of `alert.firing` and `alert.resolved`. */
export interface AlertData {
  readonly name?: string;
  readonly summary: string;
  /** The total number; `items` has the first few. */
  readonly count: number;
  readonly items: readonly { readonly text: string }[];
}

/** Third-party texts may contain line breaks, and characters that control a terminal or reverse the text direction. */
const cut = (text: string, maxLength: number): string => {
  const plain = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
  return plain.length > maxLength ? `${plain.slice(0, maxLength - 1).toWellFormed()}…` : plain;
};

/** In Slack's format, which many other chats accept: only `&`, `<` and `>` must be escaped. */
export function slackBody({ title, lines }: Message): string {
  const escape = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const text = [escape(title), ...lines.map((line) => `• ${escape(line)}`)].join('\n');
  return JSON.stringify({ text });
}

export const mailText = ({ title, lines }: Message): string =>
  `${[title, '', ...lines.map((line) => `- ${line}`)].join('\n')}\n`;
