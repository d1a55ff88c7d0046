import { bounds } from '../bounds.ts';

const comparedKeys = new Set([
  'code',
  'type',
  'name',
  'message',
  'reason',
  'status',
  'statuscode',
  'path',
  'error',
  'errors',
  'title',
  'kind',
  'param',
  'issues',
  'errorcode',
  'error_code',
  'error_description',
  '__type',
  'cause',
  'field',
  'rule',
  'property',
  'constraint',
  'column',
  'keyword',
  'validation',
  'expected',
  'received',
  'format',
  'detail',
  'description',
  'loc',
  'msg',
]);
const opening = /[[{]\s{0,20}(?:["{[]|[}\]]|-?\d)/;

/**
 * Replaces the JSON in a message by the parts that describe the failure: codes, types, statuses and messages are kept, and other values are
 * removed. The result is text that the later rules normalize like any other.
 */
export function summariseJson(text: string): string {
  const found = opening.exec(text);
  if (!found) return text;
  const start = found.index;
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1;
  if (end > start + 1) {
    const value = parsed(text.slice(start, end));
    if (value !== undefined) {
      const summary = summaryOf(value, 0);
      return `${text.slice(0, start)}${summary === '' ? '<json>' : summary}${text.slice(end)}`;
    }
  }
  return looksLikeJson(text.slice(start))
    ? `${text.slice(0, start)}${partialSummary(text.slice(start))}`
    : text;
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const looksLikeJson = (text: string): boolean =>
  /^[[{]\s{0,20}(?:\{\s{0,20})?"[^"\n]{0,80}"\s{0,4}:/.test(text);

/** For truncated JSON, the keys that are kept, if their plain values are complete. */
function partialSummary(text: string): string {
  const parts: string[] = [];
  for (const [, key = '', value = ''] of text.matchAll(
    /"(\w{1,40})"\s{0,4}:\s{0,4}("[^"\n]{0,200}"|-?\d{1,6}\b)/g,
  )) {
    if (isCompared(key)) parts.push(`${key} ${plain(key, value.replaceAll('"', ''))}`);
    if (parts.length === 12) break;
  }
  return parts.length === 0 ? '<json>' : [...new Set(parts)].join(', ');
}

function summaryOf(value: unknown, depth: number): string {
  if (Array.isArray(value)) {
    const parts = new Set<string>();
    for (const item of value.slice(0, 40)) {
      const part =
        typeof item === 'object' && item !== null && depth < 4
          ? summaryOf(item, depth + 1)
          : typeof item === 'string' && depth < 2
            ? item.slice(0, 200)
            : '';
      if (part !== '') parts.add(part);
      if (parts.size === 8) break;
    }
    return [...parts].join('; ');
  }
  if (typeof value !== 'object' || value === null) return '';
  const parts: string[] = [];
  for (const key of Object.keys(value).slice(0, 60).toSorted()) {
    const inner = (value as Record<string, unknown>)[key];
    if (!isCompared(key)) {
      const part =
        typeof inner === 'object' && !Array.isArray(inner) && depth < 3 ? summaryOf(inner, depth + 1) : '';
      if (part !== '') parts.push(`${key} (${part})`);
      continue;
    }
    if (key === 'path' || key === 'loc') parts.push(`${key} ${pathOf(inner)}`);
    else if (typeof inner === 'object' && inner !== null) {
      const part = depth < 4 ? summaryOf(inner, depth + 1) : '';
      if (part !== '') parts.push(`${key} (${part})`);
    } else if (inner !== undefined && inner !== null && inner !== '')
      parts.push(`${key} ${plain(key, String(inner))}`);
  }
  return parts.join(', ');
}

const isCompared = (key: string): boolean => comparedKeys.has(key.toLowerCase());

/** Codes and types are names, so plain ones are quoted in order to be kept; sentences are normalized by later rules. */
function plain(key: string, value: string): string {
  const text = value.slice(0, bounds.line);
  if (/^(?:status|statuscode|code|errorcode|error_code)$/i.test(key) && /^-?\d{1,6}$/.test(text))
    return `code ${text}`;
  return text;
}

function pathOf(value: unknown): string {
  if (Array.isArray(value))
    return value
      .map((step) => (typeof step === 'number' ? '#' : String(step)))
      .join('.')
      .slice(0, 200);
  return String(value).slice(0, 200);
}
