/** A refusal as the server sends it. */
interface Refusal {
  readonly error?: unknown;
  readonly details?: unknown;
}

interface Detail {
  readonly message?: unknown;
  readonly path?: readonly (string | number)[];
}

/** What the server calls a request of which only `details` say what is wrong. */
const labels: ReadonlySet<unknown> = new Set(['Query Error', 'Params Error', 'Headers Error']);

/** Why a request was refused, in one sentence. */
export function refusalSentence(status: number, statusText: string, { error, details }: Refusal): string {
  if (typeof error !== 'string') return `${status} ${statusText}`;
  const named = labels.has(error) && Array.isArray(details) ? (details as Detail[]).map(textOf) : [];
  return `${status} ${named.length > 0 ? named.join('; ') : error}`;
}

const textOf = ({ message, path = [] }: Detail): string =>
  [...(path.length > 0 ? [`${path.join('.')}:`] : []), String(message)].join(' ');
