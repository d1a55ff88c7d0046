import type { ArchivedPart } from '@millrace/contract';
import { archivedParts } from '@millrace/contract';
import { badRequest } from '../../problem.ts';

/** The position of a page. */
export interface Position {
  /** Continues after this run id, or the text that sorts after a range of ids. */
  readonly after: string;
  /** The last returned record of each kind, if the last page ended within the records of run `after`. */
  readonly within?: Readonly<Record<ArchivedPart, string>>;
}

const pattern = /^(run_[0-9a-z]{1,60})(?:\/(\d{1,19}),(\d{1,19}),(\d{1,19}),(\d{1,19}))?$/;

export const cursorText = ({ after, within }: Position): string =>
  within ? `${after}/${archivedParts.map((part) => within[part]).join(',')}` : after;

export function readCursor(text: string | undefined): Position | undefined {
  if (text === undefined) return undefined;
  const [, after, attempts, steps, logs, spans] = pattern.exec(text) ?? [];
  if (after === undefined) throw badRequest('after: not a position in an archive; use `next` of a page');
  if (attempts === undefined || steps === undefined || logs === undefined || spans === undefined)
    return { after };
  return { after, within: { attempts, steps, logs, spans } };
}
