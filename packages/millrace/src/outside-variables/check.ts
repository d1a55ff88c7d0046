import { VariablesUnread } from './errors.ts';

/** Linux starts no process with a longer variable. In bytes. */
const maxValue = 128_000;
const reserved = /^(?:MILLRACE_.*|TRIGGER_SECRET_KEY|TRIGGER_API_URL|__proto__)$/i;

/** The variables of an object that a command or a hook returned. Numbers and booleans become text. */
export function checkVariables(from: string, given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new VariablesUnread(`${from} must return an object of variables, such as {"API_KEY": "…"}.`);
  return Object.fromEntries(
    Object.entries(given).map(([name, value]: [string, unknown]) => {
      if (!['string', 'number', 'boolean'].includes(typeof value))
        throw new VariablesUnread(
          `${from} returned no text for ${name}. Return a text, a number or a boolean.`,
        );
      return checkVariable(from, name, String(value));
    }),
  );
}

/** The variable, if a process can have it. */
export function checkVariable(from: string, name: string, value: string): [string, string] {
  const refuse = (why: string): never => {
    throw new VariablesUnread(
      `${from} has a variable that cannot be set, ${JSON.stringify(name.slice(0, 255))}: ${why}.`,
    );
  };
  if (!/^[A-Za-z_]\w{0,254}$/.test(name))
    refuse('a name is up to 255 letters, digits and _, and does not begin with a digit');
  if (reserved.test(name)) refuse('the name is reserved by Millrace');
  if (value.includes('\0')) refuse('its value holds a NUL character; encode binary data as base64');
  if (Buffer.byteLength(value) > maxValue)
    refuse(`its value has ${Buffer.byteLength(value)} bytes, and the most is ${maxValue}`);
  return [name, value];
}
