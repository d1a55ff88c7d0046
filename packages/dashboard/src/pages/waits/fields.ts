export type FieldKind = 'text' | 'number' | 'flag';

/** A member of the object with which a token is completed. */
export interface FormField {
  readonly name: string;
  readonly kind: FieldKind;
  /** As entered; `true` or `false` for a flag. An empty text is a value; an empty number or flag is rejected. */
  readonly text: string;
}

/** The usual fields of approvals, if there is no earlier token to copy them from. */
export const usualFields: readonly FormField[] = [
  { name: 'approved', kind: 'flag', text: '' },
  { name: 'comment', kind: 'text', text: '' },
];

const kindOf = (value: unknown): FieldKind | undefined =>
  typeof value === 'string'
    ? 'text'
    : typeof value === 'number'
      ? 'number'
      : typeof value === 'boolean'
        ? 'flag'
        : undefined;

/** The fields of an object whose members are strings, numbers and flags; undefined for everything else, which is edited as JSON. */
export function fieldsOf(value: unknown): readonly FormField[] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields: FormField[] = [];
  for (const [name, member] of Object.entries(value)) {
    const kind = kindOf(member);
    if (kind === undefined) return undefined;
    fields.push({ name, kind, text: String(member) });
  }
  return fields;
}

/** The same fields, empty. */
export const blankFields = (fields: readonly FormField[]): readonly FormField[] =>
  fields.map((field) => ({ ...field, text: '' }));

/** The object with the values of the fields. Errors are by index of their field. */
export function objectOf(
  fields: readonly FormField[],
): { readonly value: Readonly<Record<string, unknown>> } | { readonly errors: ReadonlyMap<number, string> } {
  const errors = new Map<number, string>();
  const members = new Map<string, unknown>();
  for (const [index, { name, kind, text }] of fields.entries()) {
    if (name === '') errors.set(index, 'Enter a name, or remove the field.');
    else if (members.has(name)) errors.set(index, `Another field has the name ${name}.`);
    else if (kind === 'flag' && text === '') errors.set(index, 'Choose yes or no.');
    else if (kind === 'number' && text.trim() === '')
      errors.set(index, 'Enter a number, or remove the field.');
    else if (kind === 'number' && !Number.isFinite(Number(text)))
      errors.set(index, `"${text}" is not a number.`);
    else members.set(name, kind === 'number' ? Number(text) : kind === 'flag' ? text === 'true' : text);
  }
  return errors.size > 0 ? { errors } : { value: Object.fromEntries(members) };
}
