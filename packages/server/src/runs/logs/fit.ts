import { lastMoment } from '@millrace/contract';
import type { LogLevel, LogLine } from '@millrace/contract/runner';
import { cutAt, cutText, noteCharacters } from '../values/cut-text.ts';
import { storableText } from '../values/storable.ts';
import { responseText } from '../../json/response.ts';

/** Maximum characters of a message, and of properties as JSON. The SDK truncates at the same length. */
export const maxLineCharacters = 64 * 1024;
const levels: readonly unknown[] = ['debug', 'info', 'log', 'warn', 'error'] satisfies LogLevel[];

/** A line that can be stored, for any input from its runner. Runs before any search through its texts, such as for secrets. */
export function fitLine(sent: LogLine, now: number): LogLine {
  const { run, attempt, at, level, message, properties } = sent as unknown as Readonly<
    Record<string, unknown>
  >;
  return {
    run: run as string,
    attempt: attempt as number,
    at: typeof at === 'number' && at >= 0 && at <= lastMoment ? at : now,
    level: levels.includes(level) ? (level as LogLevel) : 'log',
    message: typeof message === 'string' ? storableText(cutText(message, maxLineCharacters)) : '',
    ...(typeof properties === 'string' && { properties: shortJson(properties) }),
  };
}

/** Whether the SDK truncated the text. Each character may be escaped, and a note is appended. */
const isCut = (text: string): boolean =>
  text.startsWith('{"cut":"') && text.length <= 2 * maxLineCharacters + noteCharacters;

/** Replaces properties that are too long with other JSON. */
const shortJson = (text: string): string =>
  text.length > maxLineCharacters && !isCut(text)
    ? JSON.stringify({ cut: storableText(cutAt(text, maxLineCharacters)) })
    : storableText(responseText(text));
