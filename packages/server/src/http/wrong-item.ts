/**
 * Finds the first wrong item of the lists in a large body. zod validates all items before it checks the length of the list, and describes
 * each invalid one; a hundred thousand of them would take seconds.
 */
import { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** The issues of a list that is too long, or of the first invalid item. Undefined if there is neither. */
export function wrongItem(schema: z.core.$ZodType, value: unknown): Issue[] | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return wrongItem(schema.unwrap(), value);
  }
  if (schema instanceof z.ZodPipe) return wrongItem(schema.in, value);
  if (schema instanceof z.ZodUnion) {
    const lists = schema.options.filter((option) => option instanceof z.ZodArray);
    return lists.length === 1 && lists[0] ? wrongItem(lists[0], value) : undefined;
  }
  if (schema instanceof z.ZodArray) return Array.isArray(value) ? wrongInList(schema, value) : undefined;
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(schema.shape)) {
    const inner = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    const issues = inner === undefined ? undefined : wrongItem(member, inner);
    if (issues) return issues.map((issue) => ({ ...issue, path: [name, ...issue.path] }));
  }
  return undefined;
}

function wrongInList(schema: z.ZodArray, value: readonly unknown[]): Issue[] | undefined {
  const lengths = (schema.def.checks ?? []).filter((check) => check._zod.def.check === 'max_length');
  const length = z
    .array(z.unknown())
    .check(...(lengths as z.core.$ZodCheck<unknown[]>[]))
    .safeParse(value);
  if (!length.success) return length.error.issues;
  for (const [index, item] of value.entries()) {
    const read = z.safeParse(schema.element, item);
    if (!read.success) return read.error.issues.map((issue) => ({ ...issue, path: [index, ...issue.path] }));
  }
  return undefined;
}
