import { sealedType } from '@millrace/contract';
import { isTooDeep } from '../json/levels.ts';
import { shownJson } from '../json/shown.ts';

/**
 * A payload or an output as the wire shows it: the plain JSON value, unpacked. Text that its type does not fit is shown as it is:
 * it was stored as it came, and its run has said so.
 */
export function readData(text: string | null, type: string): unknown {
  if (text === null) return undefined;
  if (type.includes('json') && isTooDeep(text)) return shownJson(text);
  try {
    if (type === 'application/json' || type === sealedType) return JSON.parse(text);
    // Only the plain half: what the other half would revive (dates, maps) cannot be written as JSON anyway.
    if (type === 'application/super+json') return (JSON.parse(text) as { json?: unknown }).json;
  } catch {
    return text;
  }
  return text;
}
