import { normaliseMessage } from './message/message.ts';
import type { FingerprintParts } from './parts.ts';

/** One sentence for each part of a fingerprint. `raw` is the thrown message. */
export function reasons(
  { type, family, compared, origin, causes }: FingerprintParts,
  raw: string,
  task: string,
): string[] {
  const applied: string[] = [];
  normaliseMessage(raw, applied);
  const rules = [...new Set(applied)];
  return [
    task === '' ? 'Task: none.' : `Task: ${task}.`,
    family === undefined ? `Class: ${type}.` : `Class: any of the family "${family}", instead of ${type}.`,
    `Message: compared as "${compared}"${rules.length === 0 ? '' : `, after the rules ${rules.join(', ')}`}.`,
    origin === '' ? 'Origin: none; the task and the message decide.' : `Origin: ${origin}.`,
    causes.length === 0 ? 'Causes: none that add information.' : `Causes: ${causes.join('; ')}.`,
  ];
}
