import { SubscriptionRefused } from './pattern.ts';

/**
 * A condition on a payload. An object of fields, all of which must match:
 *
 *   { "plan": "pro" }                             the field equals it (a string, number, boolean or null)
 *   { "total": { "$gte": 100, "$lt": 1000 } }     operators, all of which must hold
 *   { "customer": { "country": { "$in": ["FR", "BE"] } } }   fields of a field
 *
 * Filters are pure, total and bounded: no payload makes a filter throw, and values of an unexpected type do not match.
 */
export type Filter = (payload: unknown) => boolean;

export const maxDepth = 8;
export const maxConditions = 100;
export const maxChoices = 200;

type Scalar = string | number | boolean | null;
type Test = (value: unknown) => boolean;

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Compiles a filter for repeated use. Rejects an invalid one, naming the field. */
export function compileFilter(filter: unknown): Filter {
  if (filter === undefined) return () => true;
  if (!isObject(filter)) throw refusal('', 'must be an object of fields, such as { "plan": "pro" }');
  const budget = { left: maxConditions };
  return fieldsOf(filter, '', 1, budget);
}

const refusal = (path: string, reason: string) =>
  new SubscriptionRefused(`filter${path === '' ? '' : ` at ${path}`} ${reason}`);

interface Budget {
  left: number;
}

function fieldsOf(fields: Record<string, unknown>, path: string, depth: number, budget: Budget): Test {
  if (depth > maxDepth) throw refusal(path, `is nested more than ${maxDepth} deep`);
  const tests = Object.entries(fields).map(([name, condition]): Test => {
    const at = path === '' ? name : `${path}.${name}`;
    if (name.startsWith('$')) throw refusal(at, 'is an operator where a field should be');
    if (--budget.left < 0)
      throw refusal(at, `exceeds the limit; a filter can have at most ${maxConditions} conditions`);
    const test = conditionOf(condition, at, depth, budget);
    return (value) => isObject(value) && test(Object.hasOwn(value, name) ? value[name] : undefined);
  });
  return (value) => tests.every((test) => test(value));
}

function conditionOf(condition: unknown, path: string, depth: number, budget: Budget): Test {
  if (isScalar(condition)) return (value) => value === condition;
  if (!isObject(condition)) {
    throw refusal(
      path,
      'must be a string, number, boolean, null, an object of operators or of fields; to match one of several values, write { "$in": […] }',
    );
  }
  const names = Object.keys(condition);
  const operating = names.filter((name) => name.startsWith('$'));
  if (operating.length === 0) return fieldsOf(condition, path, depth + 1, budget);
  if (operating.length < names.length) throw refusal(path, 'mixes operators and fields');
  const tests = operating.map((name): Test => {
    if (--budget.left < 0)
      throw refusal(path, `exceeds the limit; a filter can have at most ${maxConditions} conditions`);
    return operatorOf(name, condition[name], `${path}.${name}`);
  });
  return (value) => tests.every((test) => test(value));
}

function operatorOf(name: string, operand: unknown, path: string): Test {
  switch (name) {
    case '$eq':
      return equals(scalar(operand, path));
    case '$ne':
      return not(equals(scalar(operand, path)));
    case '$in':
      return among(operand, path);
    case '$nin':
      return not(among(operand, path));
    case '$gt':
      return ordered(operand, path, (order) => order > 0);
    case '$gte':
      return ordered(operand, path, (order) => order >= 0);
    case '$lt':
      return ordered(operand, path, (order) => order < 0);
    case '$lte':
      return ordered(operand, path, (order) => order <= 0);
    case '$prefix':
      if (typeof operand !== 'string') throw refusal(path, 'must be a string');
      return (value) => typeof value === 'string' && value.startsWith(operand);
    case '$contains': {
      const expected = scalar(operand, path);
      return (value) => Array.isArray(value) && value.includes(expected);
    }
    case '$exists':
      if (typeof operand !== 'boolean') throw refusal(path, 'must be true or false');
      return (value) => (value !== undefined) === operand;
    default:
      throw refusal(
        path,
        'is not an operator; the operators are $eq, $ne, $in, $nin, $gt, $gte, $lt, $lte, $prefix, $contains and $exists',
      );
  }
}

const equals =
  (expected: Scalar): Test =>
  (value) =>
    value === expected;
const not =
  (test: Test): Test =>
  (value) =>
    !test(value);

function scalar(operand: unknown, path: string): Scalar {
  if (isScalar(operand)) return operand;
  throw refusal(path, 'must be a string, number, boolean or null');
}

function among(operand: unknown, path: string): Test {
  if (!Array.isArray(operand) || !operand.every(isScalar)) {
    throw refusal(path, 'must be a list of strings, numbers, booleans or null');
  }
  if (operand.length > maxChoices) throw refusal(path, `has more than ${maxChoices} choices`);
  const choices = new Set<unknown>(operand);
  return (value) => choices.has(value);
}

/** Compares numbers by size and strings by their code units, so that ISO 8601 dates are in order; other types never match. */
function ordered(operand: unknown, path: string, holds: (order: number) => boolean): Test {
  if (typeof operand !== 'string' && !Number.isFinite(operand))
    throw refusal(path, 'must be a number or a string');
  const bound = operand as string | number;
  return (value) =>
    typeof value === typeof bound && holds(value === bound ? 0 : (value as string | number) < bound ? -1 : 1);
}
