import { jsonCursor } from './json-cursor.ts';
import {
  exampleOf,
  hintOf,
  kindOf,
  propertiesOf,
  requiredOf,
  resolved,
  schemaAt,
  valuesOf,
  type Schema,
} from '../../../parts/schema/schema.ts';

export interface JsonCompletion {
  readonly label: string;
  readonly hint: string | undefined;
  /** The whole text after the choice. */
  readonly text: string;
  readonly cursor: number;
}

const maxShown = 12;

/**
 * Completions at the cursor: names in the schema that the object lacks, required ones first, or values.
 *
 * @example completeJson('{"', 2, schema) // [{ label: 'orderId', hint: 'string, required', text: '{"orderId": ""', … }]
 */
export function completeJson(text: string, cursor: number, root: Schema): readonly JsonCompletion[] {
  const { path, expects, typed, from, to, names } = jsonCursor(text, cursor);
  if (expects === 'nothing') return [];
  const put = (label: string, hint: string | undefined, by: string, back = 0): JsonCompletion => ({
    label,
    hint,
    text: text.slice(0, from) + by + text.slice(to),
    cursor: from + by.length - back,
  });
  const schema = schemaAt(root, path);
  const start = typed.toLowerCase();
  if (expects === 'name') {
    const required = requiredOf(schema);
    const hasColon = /^\s*:/.test(text.slice(to));
    return propertiesOf(schema)
      .filter(([name]) => !names.includes(name) && name.toLowerCase().includes(start))
      .toSorted(([a], [b]) => Number(required.has(b)) - Number(required.has(a)))
      .slice(0, maxShown)
      .map(([name, property]) => {
        const inner = resolved(property, root);
        const words = [kindOf(inner), required.has(name) ? 'required' : undefined, hintOf(inner)];
        const value = hasColon ? '' : `: ${JSON.stringify(exampleOf(inner, root))}`;
        const isText = value === ': ""';
        return put(name, words.filter(Boolean).join(', '), `${JSON.stringify(name)}${value}`, isText ? 1 : 0);
      });
  }
  const kind = kindOf(schema);
  const values = kind === 'enum' ? valuesOf(schema) : kind === 'boolean' ? [true, false] : [];
  return values
    .map((value) => JSON.stringify(value))
    .filter((value) => value.toLowerCase().includes(start))
    .slice(0, maxShown)
    .map((value) => put(value, undefined, value));
}
