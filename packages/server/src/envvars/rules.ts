/** Limits and validation of names and values. Pure. */
import { maxVariableName, whyNotVariable } from '@millrace/contract';
import { Problem } from '../problem.ts';
import { restrictionOf } from './restricted-names.ts';

/**
 * Maximum bytes of an environment's own names and values. Together with its parent's, they must fit into the 2 MiB available to a process.
 */
export const maxTogether = 750_000;
export const maxVariables = 5_000;

/** Ignored in an import, an error for a single variable. The value may be empty: runs then get the empty string. */
export const isUnnamed = ({ name }: Pick<Setting, 'name'>): boolean => name.trim() === '';

export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** One entry of `variableErrors`. Never contains a value. */
export interface VariableError {
  readonly key: string;
  readonly error: string;
}

/** The error of an invalid variable; undefined if it is valid. */
export function whyNot({ name, value }: Setting): VariableError | undefined {
  const error = whyNotVariable(name, value);
  return error === undefined ? undefined : { key: name.slice(0, maxVariableName), error };
}

export const invalid = (message: string, variableErrors: readonly VariableError[] = []) =>
  new Problem('invalid_request', message, variableErrors.length > 0 ? { variableErrors } : {});

export const nothingValid = (variableErrors: readonly VariableError[] = []) =>
  invalid('You must set at least one valid variable.', variableErrors);

/** 403 if one of the names is restricted: only administrators may set or remove those. */
export function refuseRestricted(names: Iterable<string>): void {
  const errors = [...names].flatMap((name): VariableError[] => {
    const why = restrictionOf(name);
    if (why === undefined) return [];
    return [
      { key: name.slice(0, maxVariableName), error: `Only administrators may change it, because it ${why}.` },
    ];
  });
  if (errors.length === 0) return;
  const first = errors
    .slice(0, 10)
    .map(({ key }) => key)
    .join(', ');
  throw new Problem(
    'restricted_variable',
    `Nothing was changed: ${first} can run code in the processes that execute tasks. Changing it requires a secret key with the ` +
      'preset full, or a personal access token of an admin or owner of the organization. Omit it, or use one of these.',
    { variableErrors: errors },
  );
}
