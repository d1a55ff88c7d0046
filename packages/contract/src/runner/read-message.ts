/** Parses a message of a runner and checks its structure. The server truncates the texts of lines, spans and errors before it stores them. */
import { maxFrameBytes, type RunnerMessage } from './messages.ts';

/**
 * Limits of a frame from a runner. Messages of a real runner are far below them, because outputs and properties are JSON texts, each of
 * which counts as one value.
 */
export const frameLimits = {
  maxBytes: maxFrameBytes,
  maxDepth: 32,
  maxMembers: 100_000,
  // Outputs are JSON texts nested in this JSON, so any number of their characters may be escaped.
  maxEscapes: maxFrameBytes,
} as const;

/** Limits of the lists and texts in a frame. */
export const messageLimits = {
  /** Maximum number of log lines in a frame. */
  lines: 1_000,
  /** Maximum number of spans in a frame. */
  spans: 500,
  /** Maximum size in bytes of a frame of lines and spans. */
  logBytes: 4 * 1024 * 1024,
  /** Maximum number of version names in a message. */
  versions: 10_000,
  /** Maximum number of characters of an id or a name: of a run, a runner, a version, a host. */
  name: 256,
} as const;

type Fields = Readonly<Record<string, unknown>>;
/** The invalid field and its rule. Undefined if all fields are valid. */
type Fault = string | undefined;
type Check = (value: unknown, field: string) => Fault;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text =
  (max: number): Check =>
  (value, field) =>
    typeof value === 'string' && value.length <= max
      ? undefined
      : `${field} must be a text of at most ${max} characters`;

/** PostgreSQL cannot store U+0000. */
const nameUpTo =
  (max: number): Check =>
  (value, field) =>
    typeof value === 'string' && value !== '' && value.length <= max && !value.includes('\0')
      ? undefined
      : `${field} must be a text of 1 to ${max} characters, without U+0000`;

const whole =
  (max: number): Check =>
  (value, field) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max
      ? undefined
      : `${field} must be a whole number from 0 to ${max}`;

const maxInt = 2 ** 31 - 1;
const count = whole(maxInt);
const fence = whole(Number.MAX_SAFE_INTEGER);
const time = whole(Number.MAX_SAFE_INTEGER);
const name = nameUpTo(messageLimits.name);

const list =
  (item: Check, max: number = frameLimits.maxMembers): Check =>
  (value, field) => {
    if (!Array.isArray(value)) return `${field} must be a list`;
    if (value.length > max) return `${field} must have at most ${max} items`;
    for (const [at, element] of value.entries()) {
      const fault = item(element, `${field}.${at}`);
      if (fault) return fault;
    }
    return undefined;
  };

const object =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value, field) => {
    if (!isFields(value)) return `${field} must be an object`;
    for (const [key, check] of Object.entries(fields)) {
      const fault = check(value[key], field === '' ? key : `${field}.${key}`);
      if (fault) return fault;
    }
    return undefined;
  };

const optional =
  (check: Check): Check =>
  (value, field) =>
    value === undefined ? undefined : check(value, field);

const anything: Check = () => undefined;
const flag: Check = (value, field) =>
  typeof value === 'boolean' ? undefined : `${field} must be true or false`;

const inAttempt = { run: name, attempt: count };

const chunks: Check = (value, field) => {
  const fault = list(object({ ...inAttempt, spans: list(anything) }))(value, field);
  if (fault) return fault;
  const spans = (value as { spans: unknown[] }[]).reduce((sum, chunk) => sum + chunk.spans.length, 0);
  return spans > messageLimits.spans ? `${field} must have at most ${messageLimits.spans} spans` : undefined;
};

/**
 * The required fields of each message. The outcome of an attempt and the target of a wait are checked later, where the run can be ended with an
 * error.
 */
const messages = new Map<unknown, Check>([
  [
    'hello',
    object({
      runner: nameUpTo(128),
      host: name,
      pid: count,
      release: optional(name),
      capacity: count,
      versions: list(name, messageLimits.versions),
      leased: list(fence),
      knowsLogged: optional(flag),
      fetches: optional(object({})),
      isOnDemand: optional(flag),
      at: optional(time),
      servesBranches: optional(flag),
    }),
  ],
  ['serve', object({ versions: list(name, messageLimits.versions) })],
  ['unable', object({ version: name, why: text(frameLimits.maxBytes) })],
  ['capacity', object({ capacity: count })],
  ['settle', object({ settlements: list(object({ run: name, fence })) })],
  [
    'log',
    object({
      seq: optional(fence),
      lines: list(object(inAttempt), messageLimits.lines),
      spans: optional(chunks),
    }),
  ],
  ['wait', object({ attempts: list(object({ run: name, fence, waits: list(anything) })) })],
  ['detach', object({ fences: list(fence) })],
  ['heartbeat', object({ at: optional(time) })],
  ['drain', anything],
] satisfies [RunnerMessage['type'], Check][]);

/** The message in a parsed frame, or the reason why it is invalid. */
export function readRunnerMessage(frame: unknown): RunnerMessage | { readonly fault: string } {
  if (!isFields(frame)) return { fault: 'A message must be a JSON object.' };
  const { type } = frame;
  const check = messages.get(type);
  if (!check) return { fault: `type must be one of ${[...messages.keys()].join(', ')}.` };
  const fault = check(frame, '');
  return fault === undefined ? (frame as unknown as RunnerMessage) : { fault: `${String(type)}: ${fault}.` };
}
