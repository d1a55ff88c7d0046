/** An error response as the server sends it. */
interface Refusal {
  readonly error?: unknown;
  readonly details?: unknown;
}

interface Detail {
  readonly message?: unknown;
  readonly path?: readonly (string | number)[];
}

/** The server's generic messages for requests whose problem is described only in `details`. */
const labels: ReadonlySet<unknown> = new Set(['Query Error', 'Params Error', 'Headers Error']);

/** The reason why a request was rejected, in one sentence. */
export function refusalSentence(status: number, statusText: string, { error, details }: Refusal): string {
  if (typeof error !== 'string') return `${status} ${statusText}`;
  const named = labels.has(error) && Array.isArray(details) ? (details as Detail[]).map(textOf) : [];
  return `${status} ${named.length > 0 ? named.join('; ') : error}`;
}

const textOf = ({ message, path = [] }: Detail): string =>
  [...(path.length > 0 ? [`${path.join('.')}:`] : []), String(message)].join(' ');
