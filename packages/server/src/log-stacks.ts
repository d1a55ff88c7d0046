const quietMs = 60_000;
/** More kinds of errors than a process is likely to have. Beyond this number, the oldest is forgotten. */
const maxKinds = 1_000;
const maxMessageLength = 500;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns a function that prepares the fields of log lines. The first error of each kind in a minute remains in `err` and is logged with
 * its stack. Later ones become a short `error`: during an outage, thousands of requests fail for the same reason.
 */
export function limitStacks(now: () => number = () => performance.now()): (fields: Fields) => Fields {
  /** When the stack of each kind was last logged; oldest first. */
  const logged = new Map<string, number>();
  return (fields) => {
    const { err: thrown, ...others } = fields;
    if (!(thrown instanceof Error)) return fields;
    const { name, message, code } = thrown as Error & { code?: unknown };
    const title = code === undefined ? name : `${name} ${String(code)}`;
    const kind = `${title} ${firstFrame(thrown.stack)}`;
    const at = now();
    if (at - (logged.get(kind) ?? Number.NEGATIVE_INFINITY) < quietMs)
      return { ...others, error: `${title}: ${message.slice(0, maxMessageLength)}` };
    logged.delete(kind);
    if (logged.size >= maxKinds) logged.delete(logged.keys().next().value!);
    logged.set(kind, at);
    return fields;
  };
}

/** The place in the code, without the message, which may contain values of a request. */
const firstFrame = (stack = ''): string => /^\s+at .*$/m.exec(stack)?.[0] ?? '';
