import type { ChannelRecord } from './follow.ts';

/** A control record: a signal without data. */
export interface Control {
  /** `turn-complete`, `upgrade-required` or another. */
  readonly subtype: string;
  /** All its headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly seq: number;
}

/** The written value. A record without an envelope is the value itself. */
export function dataOf({ body }: Pick<ChannelRecord, 'body'>): unknown {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, 'data')) {
      return (value as { data: unknown }).data;
    }
    return value;
  } catch {
    return body;
  }
}

/** The name of a control record; undefined for data. */
export function controlOf({ headers, seq }: ChannelRecord): Control | undefined {
  const subtype = headers.find(([name]) => name === 'trigger-control')?.[1];
  return subtype === undefined ? undefined : { subtype, headers: Object.fromEntries(headers), seq };
}

/** Commands of the S2 protocol (trim, fence) have a header without a name. They are not data. */
export const isCommand = ({ headers }: ChannelRecord): boolean => headers[0]?.[0] === '';

/** Messages are strings. Valid JSON is parsed. */
export function parsedMessage(data: unknown): unknown {
  if (typeof data !== 'string') return data;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return data;
  }
}
