import { tryParse } from '../../json/foreign.ts';
import { unknownCursor, type RequestedPage } from '../../page.ts';

const maxMs = 36 ** 8 - 1;

/** The start of the ids assigned at this time. */
export const idAt = (ms: number): string =>
  `run_${Math.min(maxMs, Math.max(0, Math.floor(ms)))
    .toString(36)
    .padStart(8, '0')}`;

/**
 * The id in a cursor: a run's id, or, as clients of other servers may still hold, base64url of JSON with the id as `r`. The run may have
 * been deleted; its position follows from its id.
 */
export function cursorOf(
  text: string | undefined,
  parameter: RequestedPage['parameter'],
): string | undefined {
  if (text === undefined) return undefined;
  const id = isId(text) ? text : decoded(text);
  if (id !== undefined) return id;
  throw unknownCursor({ parameter }, 'the id of a run');
}

const isId = (text: unknown): text is string => typeof text === 'string' && /^run_[0-9a-z]{1,60}$/.test(text);

function decoded(text: string): string | undefined {
  const { r } = Object(tryParse(Buffer.from(text, 'base64url').toString(), { maxDepth: 8 })) as {
    r?: unknown;
  };
  return isId(r) ? r : undefined;
}
