/** Limits and validation of names and values. Pure. */
import { Problem } from '../problem.ts';
import { restrictionOf } from './restricted-names.ts';

export const maxNameLength = 255;
/** Bytes. Linux does not start a process with a longer variable. */
export const maxValue = 128_000;
/** Bytes of an environment's own names and values. Together with its parent's they must fit the 2 MiB of a process. */
export const maxTogether = 750_000;
export const maxVariables = 5_000;

/**
 * With these a run would call another server or use another credential; `__proto__` cannot be an object member. Case-insensitive, as
 * on Windows.
 */
const reserved = /^(?:MILLRACE_.*|TRIGGER_SECRET_KEY|TRIGGER_API_URL|__proto__)$/i;

export const isReserved = (name: string): boolean => reserved.test(name);

/** Nothing to set: ignored in an import, an error for a single variable. */
export const isBlank = ({ name, value }: Setting): boolean => name.trim() === '' || value.trim() === '';

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
  const error = whyNotName(name) ?? whyNotValue(value);
  return error === undefined ? undefined : { key: name.slice(0, maxNameLength), error };
}

function whyNotName(name: string): string | undefined {
  if (name.length > maxNameLength)
    return `The name has ${name.length} characters; the most is ${maxNameLength}.`;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return 'A name is letters, digits and _, and does not begin with a digit: rename it.';
  }
  if (isReserved(name)) return 'This name is reserved by Millrace: choose another.';
  return undefined;
}

function whyNotValue(value: string): string | undefined {
  if (value.includes('\0'))
    return 'A value cannot hold a NUL character: encode binary data, for instance as base64.';
  if (!value.isWellFormed())
    return 'The value is not valid Unicode: encode binary data, for instance as base64.';
  const bytes = Buffer.byteLength(value);
  if (bytes <= maxValue) return undefined;
  return `The value has ${bytes} bytes; the most is ${maxValue}, since no process starts with a longer one.`;
}

export const invalid = (message: string, variableErrors: readonly VariableError[] = []) =>
  new Problem(400, message, variableErrors.length > 0 ? { variableErrors } : {});

export const nothingValid = (variableErrors: readonly VariableError[] = []) =>
  invalid('You must set at least one valid variable.', variableErrors);

/** 403 if one of the names is restricted: only administrators may set or remove those. */
export function refuseRestricted(names: Iterable<string>): void {
  const errors = [...names].flatMap((name): VariableError[] => {
    const why = restrictionOf(name);
    if (why === undefined) return [];
    return [
      { key: name.slice(0, maxNameLength), error: `Only administrators may change it, because it ${why}.` },
    ];
  });
  if (errors.length === 0) return;
  const first = errors
    .slice(0, 10)
    .map(({ key }) => key)
    .join(', ');
  throw new Problem(
    403,
    `Nothing was changed: ${first} can run code in the processes that execute tasks. Changing it takes a secret key with the ` +
      'preset full, or a personal access token of an admin or owner of the organisation. Leave it out, or use one of these.',
    { variableErrors: errors },
  );
}
