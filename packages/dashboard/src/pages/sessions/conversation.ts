/** A record as received from a channel's stream. */
export interface ChannelRecord {
  readonly seq_num: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: unknown };

export type Entry =
  | { readonly kind: 'in'; readonly seq: number; readonly at: number; readonly value: unknown }
  | {
      readonly kind: 'out';
      readonly seq: number;
      readonly at: number;
      readonly parts: readonly Part[];
      /** Number of its chunks. */
      readonly chunks: number;
      /** Whether the task has completed its turn. */
      readonly isComplete: boolean;
    }
  | { readonly kind: 'control'; readonly seq: number; readonly at: number; readonly name: string };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The appended data, without the envelope `{"data": …}` of the SDKs. */
function dataOf(body: string): unknown {
  const value = parsed(body);
  return isObject(value) && Object.hasOwn(value, 'data') ? value['data'] : value;
}

/** A message to the task: valid JSON is parsed. */
export function messageOf(body: string): unknown {
  const data = dataOf(body);
  return typeof data === 'string' ? parsed(data) : data;
}

/**
 * The text of a message, in the common shapes of chats; undefined if there is none.
 *
 * @example wordsOf({ text: 'Hello' }) // 'Hello'
 */
export function wordsOf(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value;
  if (depth > 4) return undefined;
  if (Array.isArray(value)) {
    const words = value.map((item) => wordsOf(item, depth + 1)).filter((text) => text !== undefined);
    return words.length > 0 ? words.join('') : undefined;
  }
  if (!isObject(value)) return undefined;
  for (const name of ['text', 'content', 'parts', 'message', 'payload']) {
    const words = value[name] === undefined ? undefined : wordsOf(value[name], depth + 1);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** A chunk of a reply: text to append, or a separate value. */
export function partOf(data: unknown): Part {
  if (typeof data === 'string') return { kind: 'text', text: data };
  if (isObject(data)) {
    const { type, delta, textDelta, text } = data;
    const words = delta ?? textDelta ?? text;
    const isWords =
      (type === undefined || type === 'text' || type === 'text-delta') && typeof words === 'string';
    if (isWords) return { kind: 'text', text: words };
  }
  return { kind: 'value', value: data };
}

function joined(parts: readonly Part[], next: Part): readonly Part[] {
  const last = parts.at(-1);
  return last?.kind === 'text' && next.kind === 'text'
    ? [...parts.slice(0, -1), { kind: 'text', text: last.text + next.text }]
    : [...parts, next];
}

const controlOf = ({ headers = [] }: ChannelRecord): string | undefined =>
  headers.find(([name]) => name === 'trigger-control')?.[1];

/** Headers without a name are commands of the log, not data. */
const isCommand = ({ headers }: ChannelRecord): boolean => headers?.[0]?.[0] === '';

/**
 * Two channels as one conversation, in the order of time. The chunks of a reply are one entry, until the task's turn is complete or a message
 * arrives.
 */
export function conversationOf(
  ins: readonly ChannelRecord[],
  outs: readonly ChannelRecord[],
): readonly Entry[] {
  const entries: Entry[] = [];
  let [nextIn, nextOut] = [0, 0];
  while (nextIn < ins.length || nextOut < outs.length) {
    const received = ins[nextIn];
    const answered = outs[nextOut];
    if (received && (!answered || received.timestamp <= answered.timestamp)) {
      nextIn++;
      if (!isCommand(received))
        entries.push({
          kind: 'in',
          seq: received.seq_num,
          at: received.timestamp,
          value: messageOf(received.body),
        });
      continue;
    }
    if (!answered) break;
    nextOut++;
    if (isCommand(answered)) continue;
    const { seq_num: seq, timestamp: at } = answered;
    const control = controlOf(answered);
    const last = entries.at(-1);
    if (control === 'turn-complete' && last?.kind === 'out') {
      entries[entries.length - 1] = { ...last, isComplete: true };
    } else if (control !== undefined) {
      entries.push({ kind: 'control', seq, at, name: control });
    } else {
      const part = partOf(dataOf(answered.body));
      if (last?.kind === 'out' && !last.isComplete)
        entries[entries.length - 1] = {
          ...last,
          parts: joined(last.parts, part),
          chunks: last.chunks + 1,
        };
      else entries.push({ kind: 'out', seq, at, parts: [part], chunks: 1, isComplete: false });
    }
  }
  return entries;
}
