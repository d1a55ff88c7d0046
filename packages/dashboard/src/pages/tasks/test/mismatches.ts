import { isObject, kindOf, propertiesOf, requiredOf, resolved, valuesOf, type Schema } from './schema.ts';

const maxTold = 5;
const maxLooked = 1_000;

/**
 * The parts of a payload that the task's schema would reject, as sentences. It checks types, required members and choices; the run itself
 * checks everything.
 *
 * @example mismatches({ type: 'object', required: ['id'] }, {}) // ['`id` is required.']
 */
export function mismatches(root: Schema, value: unknown): readonly string[] {
  const told: string[] = [];
  let looked = 0;
  const look = (given: unknown, at: unknown, path: string): void => {
    if (told.length >= maxTold || (looked += 1) > maxLooked) return;
    const schema = resolved(given, root);
    const kind = kindOf(schema);
    const name = path === '' ? 'The payload' : `\`${path}\``;
    if (kind === 'enum') {
      const values = valuesOf(schema);
      if (!values.some((one) => JSON.stringify(one) === JSON.stringify(at)) && at !== null)
        told.push(`${name} is one of ${values.map((one) => JSON.stringify(one)).join(', ')}.`);
    } else if (kind === 'object') {
      if (!isObject(at)) return void (at !== null && told.push(`${name} is an object.`));
      for (const key of requiredOf(schema))
        if (!(String(key) in at)) told.push(`\`${joined(path, String(key))}\` is required.`);
      const known = new Map(propertiesOf(schema));
      for (const [key, inner] of Object.entries(at)) {
        const property = known.get(key);
        if (property !== undefined) look(property, inner, joined(path, key));
        else if (schema['additionalProperties'] === false)
          told.push(`\`${joined(path, key)}\` is not known to the schema.`);
      }
    } else if (kind === 'array') {
      if (!Array.isArray(at)) return void (at !== null && told.push(`${name} is a list.`));
      at.forEach((inner, index) => look(schema['items'], inner, `${path}[${index}]`));
    } else if (kind !== 'any' && at !== null && !isOfKind(kind, at)) {
      told.push(`${name} is ${kind === 'integer' ? 'a whole number' : `a ${kind}`}.`);
    }
  };
  look(root, value, '');
  return told.slice(0, maxTold);
}

const joined = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

const isOfKind = (kind: string, value: unknown): boolean =>
  kind === 'integer' ? Number.isInteger(value) : typeof value === kind;
