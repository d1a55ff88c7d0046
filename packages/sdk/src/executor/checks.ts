/** Throws an error that names a field and the rule that its value violates. */
export type Refuse = (field: string, rule: string, value: unknown) => never;

/** A value formatted for a message. */
export function format(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Accepts undefined, as do the checks below. */
export function checkNumber(
  refuse: Refuse,
  field: string,
  value: unknown,
  least: number,
  max: number,
  whole: boolean,
): void {
  if (value === undefined) return;
  const fits =
    typeof value === 'number' && value >= least && value <= max && (!whole || Number.isInteger(value));
  if (fits) return;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${max}`;
  refuse(field, `must be a ${whole ? 'whole ' : ''}number ${range}`, value);
}

/** Not blank, and at most `max` characters. Also rejects undefined. */
export function checkText(refuse: Refuse, field: string, value: unknown, max: number): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= max) return;
  refuse(field, `must be a string of 1 to ${max} characters`, value);
}

export function checkBoolean(refuse: Refuse, field: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') refuse(field, 'must be true or false', value);
}

export function checkObject(refuse: Refuse, field: string, value: unknown): void {
  if (value === undefined || (typeof value === 'object' && value !== null)) return;
  refuse(field, 'must be an object', value);
}
