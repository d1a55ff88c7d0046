/** The rules for names and values of environment variables, wherever they are set. */

/** Maximum number of characters of a name. */
export const maxVariableName = 255;
/** Maximum size of a value in bytes. Linux does not start a process with a longer variable. */
export const maxVariableValue = 128_000;

/**
 * These would make a run call a different server or use a different credential; `__proto__` cannot be an object member. Case-insensitive,
 * as on Windows.
 */
const reserved = /^(?:MILLRACE_.*|TRIGGER_SECRET_KEY|TRIGGER_API_URL|__proto__)$/i;

export const isReservedVariable = (name: string): boolean => reserved.test(name);

/** The reason why a variable cannot be set, with the fix; undefined if it can. Never contains the value. */
export const whyNotVariable = (name: string, value: string): string | undefined =>
  whyNotName(name) ?? whyNotValue(value);

function whyNotName(name: string): string | undefined {
  if (name.length > maxVariableName)
    return `The name has ${name.length} characters; the maximum is ${maxVariableName}.`;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return 'A name is letters, digits and _, and does not begin with a digit: rename it.';
  }
  if (isReservedVariable(name)) return 'This name is reserved by Millrace: choose another.';
  return undefined;
}

function whyNotValue(value: string): string | undefined {
  if (value.includes('\0'))
    return 'A value cannot hold a NUL character: encode binary data, for instance as base64.';
  if (!value.isWellFormed())
    return 'The value is not valid Unicode: encode binary data, for instance as base64.';
  const bytes = new TextEncoder().encode(value).length;
  if (bytes <= maxVariableValue) return undefined;
  return `The value has ${bytes} bytes; the maximum is ${maxVariableValue}, the limit for process environments.`;
}
