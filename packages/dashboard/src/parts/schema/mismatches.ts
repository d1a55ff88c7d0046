import { isObject, kindOf, propertiesOf, requiredOf, resolved, valuesOf, type Schema } from './schema.ts';

const maxProblems = 5;
const maxLooked = 1_000;

/**
 * The parts of a value that its schema would reject, as sentences. It checks types, required members and choices; the code that receives the
 * value checks everything.
 *
 * @example mismatches({ type: 'object', required: ['id'] }, {}) // ['`id` is required.']
 */
export function mismatches(root: Schema, value: unknown, what = 'The payload'): readonly string[] {
  const problems: string[] = [];
  let looked = 0;
  const check = (rawSchema: unknown, at: unknown, path: string): void => {
    if (problems.length >= maxProblems || (looked += 1) > maxLooked) return;
    const schema = resolved(rawSchema, root);
    const kind = kindOf(schema);
    const name = path === '' ? what : `\`${path}\``;
    if (kind === 'enum') {
      const values = valuesOf(schema);
      if (!values.some((choice) => JSON.stringify(choice) === JSON.stringify(at)) && at !== null)
        problems.push(`${name} must be one of ${values.map((choice) => JSON.stringify(choice)).join(', ')}.`);
    } else if (kind === 'object') {
      if (!isObject(at)) return void (at !== null && problems.push(`${name} must be an object.`));
      for (const key of requiredOf(schema))
        if (!(String(key) in at)) problems.push(`\`${joined(path, String(key))}\` is required.`);
      const known = new Map(propertiesOf(schema));
      for (const [key, inner] of Object.entries(at)) {
        const property = known.get(key);
        if (property !== undefined) check(property, inner, joined(path, key));
        else if (schema['additionalProperties'] === false)
          problems.push(`\`${joined(path, key)}\` is not in the schema.`);
      }
    } else if (kind === 'array') {
      if (!Array.isArray(at)) return void (at !== null && problems.push(`${name} must be an array.`));
      at.forEach((inner, index) => check(schema['items'], inner, `${path}[${index}]`));
    } else if (kind !== 'any' && at !== null && !isOfKind(kind, at)) {
      problems.push(`${name} must be ${kind === 'integer' ? 'a whole number' : `a ${kind}`}.`);
    }
  };
  check(root, value, '');
  return problems.slice(0, maxProblems);
}

const joined = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

const isOfKind = (kind: string, value: unknown): boolean =>
  kind === 'integer' ? Number.isInteger(value) : typeof value === kind;
