/** Finds texts that PostgreSQL cannot store: those with a NUL character or a lone surrogate. */
import type { z } from 'zod';
import { partLength, type InParts } from './parts.ts';

type Schema = z.core.$ZodType;
type Issue = z.core.$ZodIssue;

/** Only escapes can produce these characters in JSON: raw control characters are invalid, and UTF-8 cannot encode a lone surrogate. */
const escapes = /\\u(?:0000|[dD][89a-fA-F])/;
const escapeLength = 6;

/**
 * The first unstorable text of a JSON value, as an issue of its schema; undefined if there is none. JSON of any shape (`z.unknown()`) is
 * not searched, because it is stored as JSON text, with its escape sequences.
 *
 * @param json the text of the value; if it contains no such escapes, the value is not searched
 */
export const unstorableIssue = (schema: Schema, value: unknown, json?: string): Issue | undefined =>
  json === undefined || escapes.test(json) ? find(value, [], [schema]) : undefined;

/** Like `unstorableIssue`, for a large text in UTF-8, in parts. */
export function* unstorableIssueParts(
  schema: Schema,
  value: unknown,
  json: Buffer,
): InParts<Issue | undefined> {
  for (let from = 0; from < json.length; from += partLength) {
    // An escape may continue in the next part.
    if (escapes.test(json.toString('latin1', from, from + partLength + escapeLength)))
      return unstorableIssue(schema, value);
    yield;
  }
  return undefined;
}

/** The first unstorable text of any value, without a schema. */
export const unstorableText = (value: unknown): Issue | undefined => find(value, [], undefined);

function find(
  value: unknown,
  path: readonly PropertyKey[],
  schemas: readonly Schema[] | undefined,
): Issue | undefined {
  const shapes = schemas?.flatMap(shapesOf);
  if (shapes && (shapes.length === 0 || shapes.some(({ def }) => isFree(def)))) return undefined;
  if (typeof value === 'string') return issueOf(value, path);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const own = Array.isArray(value) ? undefined : issueOf(name, path);
    const isName = shapes === undefined || shapes.some(({ def }) => def.type === 'record');
    const issue =
      (isName ? own : undefined) ??
      find(
        member,
        [...path, name],
        shapes?.flatMap(({ def }) => memberOf(def, name)),
      );
    if (issue) return issue;
  }
  return undefined;
}

function issueOf(text: string, path: readonly PropertyKey[]): Issue | undefined {
  const message = text.includes('\0')
    ? 'must not contain a NUL character'
    : text.isWellFormed()
      ? undefined
      : 'must not contain an unpaired surrogate';
  return message === undefined ? undefined : { code: 'custom', message, path: [...path], input: undefined };
}

type Shape = z.core.$ZodTypes['_zod'];
type Def = Shape['def'];

/** The schema without its wrappers: its alternatives, if it has any. */
function shapesOf(schema: Schema): readonly Shape[] {
  const shape = (schema as z.core.$ZodTypes)._zod;
  const { def } = shape;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return shapesOf(def.innerType);
    case 'pipe':
      return shapesOf((def.in as z.core.$ZodTypes)._zod.def.type === 'transform' ? def.out : def.in);
    case 'union':
      return def.options.flatMap(shapesOf);
    case 'intersection':
      return [def.left, def.right].flatMap(shapesOf);
    case 'lazy':
      return shapesOf(def.getter());
    default:
      return [shape];
  }
}

/** JSON of any shape. */
const isFree = (def: Def): boolean =>
  def.type === 'record'
    ? shapesOf(def.valueType).some((shape) => isFree(shape.def))
    : def.type === 'unknown' || def.type === 'any' || def.type === 'custom';

/** The schema of a member; undefined for a member that is dropped. */
function memberOf(def: Def, name: string): readonly Schema[] {
  switch (def.type) {
    case 'object':
      return [def.shape[name] ?? def.catchall ?? []].flat();
    case 'record':
      return [def.valueType];
    case 'array':
      return [def.element];
    case 'tuple':
      return [def.items[Number(name)] ?? def.rest ?? []].flat();
    default:
      return [];
  }
}
