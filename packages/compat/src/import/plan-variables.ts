import type { SourceVariable } from './read.ts';

/** The action for a variable. */
export interface VariableStep {
  readonly kind: 'variable';
  readonly name: string;
  /**
   * `set`: it is new. `replace`: it has a different value in the target. `same`: nothing to do. `keep`: it differs and is kept. `by-hand`:
   * its value could not be read. `left-out`: it cannot be set here.
   */
  readonly action: 'set' | 'replace' | 'same' | 'keep' | 'by-hand' | 'left-out';
  readonly isSecret: boolean;
  readonly note?: string;
  /** The value of a variable to set. Never shown. */
  readonly value?: string;
}

/** The variables of the target environment. */
export interface VariablesHere {
  readonly values: Readonly<Record<string, string>>;
  readonly secrets: ReadonlySet<string>;
}

/** The server silently ignores these, because runs have their own. */
const reserved = /^(?:MILLRACE_.*|TRIGGER_SECRET_KEY|TRIGGER_API_URL)$/i;

export const planVariables = (
  found: readonly SourceVariable[],
  here: VariablesHere,
  override: boolean,
): VariableStep[] =>
  found
    .map((variable) => planVariable(variable, here, override))
    .toSorted((a, other) => (a.name < other.name ? -1 : 1));

function planVariable(
  { name, value, isSecret }: SourceVariable,
  { values, secrets }: VariablesHere,
  override: boolean,
): VariableStep {
  const step = (action: VariableStep['action'], note?: string): VariableStep => ({
    kind: 'variable',
    name,
    action,
    isSecret: isSecret || secrets.has(name),
    ...(note !== undefined && { note }),
    ...(value !== undefined && (action === 'set' || action === 'replace') && { value }),
  });
  if (reserved.test(name)) return step('left-out', 'set by Millrace for each run');
  const own = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined)
    return own === undefined
      ? step('by-hand', 'a secret whose value could not be read')
      : step('keep', 'a secret whose value could not be read: it cannot be compared');
  if (own === undefined) return step('set');
  if (own === value && (!isSecret || secrets.has(name))) return step('same');
  if (override) return step('replace');
  const how = own === value ? 'is not secret here' : 'has another value here';
  return step('keep', `${how}: --override replaces it`);
}
