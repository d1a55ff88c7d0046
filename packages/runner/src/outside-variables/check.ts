import { maxVariableName, whyNotVariable } from '@millrace/contract/plain';
import { VariablesUnread } from './errors.ts';

/** The variables in an object returned by a command or a hook. Numbers and booleans become strings. */
export function checkVariables(from: string, returned: unknown): Record<string, string> {
  if (typeof returned !== 'object' || returned === null || Array.isArray(returned))
    throw new VariablesUnread(`${from} must return an object of variables, such as {"API_KEY": "…"}.`);
  return Object.fromEntries(
    Object.entries(returned).map(([name, value]: [string, unknown]) => {
      if (!['string', 'number', 'boolean'].includes(typeof value))
        throw new VariablesUnread(
          `${from} returned an invalid value for ${name}. Return a string, a number or a boolean.`,
        );
      return checkVariable(from, name, String(value));
    }),
  );
}

/** The variable, if a process can have it. */
export function checkVariable(from: string, name: string, value: string): [string, string] {
  const why = whyNotVariable(name, value);
  if (why === undefined) return [name, value];
  throw new VariablesUnread(
    `${from} has a variable that cannot be set, ${JSON.stringify(name.slice(0, maxVariableName))}. ${why}`,
  );
}
