import type { SerializedError } from '@millrace/contract/runner';
import { cutText } from '../values/cut-text.ts';

/** Maximum characters for each text of an error. The SDK truncates at the same lengths. */
const lengths = { name: 256, message: 16_384, stackTrace: 65_536, code: 128, fingerprint: 256 } as const;
/** A sealed error with causes could not be decrypted after truncation. */
const maxSealedCharacters = 2 * 1024 * 1024;
const maxLevels = 3;
const maxCauses = 9;
const types: readonly unknown[] = [
  'BUILT_IN_ERROR',
  'CUSTOM_ERROR',
  'STRING_ERROR',
  'INTERNAL_ERROR',
] satisfies SerializedError['type'][];

/** An error with texts of limited length, for any input from its runner. Runs before any search through the texts, such as for secrets. */
export function fitError(sent: unknown): SerializedError {
  return fit(sent, 0, { left: maxCauses });
}

function fit(sent: unknown, level: number, walk: { left: number }): SerializedError {
  const from = (typeof sent === 'object' && sent !== null ? sent : {}) as Readonly<Record<string, unknown>>;
  const text = (field: keyof typeof lengths): string | undefined => {
    const value = from[field];
    return typeof value === 'string' ? cutText(value, lengths[field]) : undefined;
  };
  const type = types.includes(from['type']) ? (from['type'] as SerializedError['type']) : 'CUSTOM_ERROR';
  const code = text('code');
  const fingerprint = text('fingerprint');
  const { sealed } = from;
  const isSealed = typeof sealed === 'string' && sealed.length <= maxSealedCharacters;
  const causes = level < maxLevels ? causesOf(from['causes'], level, walk) : [];
  return {
    type,
    name: text('name') || 'Error',
    message: text('message') ?? '',
    stackTrace: text('stackTrace') ?? '',
    ...(code !== undefined && { code }),
    ...(causes.length > 0 && { causes }),
    ...(from['isMember'] === true && { isMember: true }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(from['isFinal'] === true && { isFinal: true }),
    ...(isSealed && { sealed }),
  };
}

function causesOf(sent: unknown, level: number, walk: { left: number }): SerializedError[] {
  const causes: SerializedError[] = [];
  for (const cause of Array.isArray(sent) ? (sent as unknown[]) : []) {
    if (walk.left === 0) break;
    walk.left -= 1;
    causes.push(fit(cause, level + 1, walk));
  }
  return causes;
}
