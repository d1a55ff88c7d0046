/** Converts zod issues to error details, with the issue codes of published clients and one sentence for a body. */
import type { z } from 'zod';
import type { Detail } from '../problem.ts';

type Issue = z.core.$ZodIssue;

/** One entry of `details`. Never contains the invalid value, which may be a secret. */
export const detailOf = (issue: Issue): Detail => ({
  ...propertiesOf(issue),
  message: messageOf(issue),
  path: issue.path.map(String),
});

/** A request may have thousands of wrong members. */
const maxIssues = 100;
const maxKeys = 10;

/** One entry for each issue, up to a limit. */
export const detailsOf = (issues: readonly Issue[]): Detail[] => issues.slice(0, maxIssues).map(detailOf);

/** If there are many unknown keys, names only a few. */
const messageOf = (issue: Issue): string =>
  issue.code === 'unrecognized_keys' && issue.keys.length > maxKeys
    ? `Unrecognized keys: ${issue.keys
        .slice(0, maxKeys)
        .map((key) => JSON.stringify(key))
        .join(', ')} and ${issue.keys.length - maxKeys} more`
    : issue.message;

function propertiesOf(issue: Issue): { code: string } & Record<string, unknown> {
  switch (issue.code) {
    case 'invalid_type': {
      const received = issue.expected === 'int' ? 'float' : receivedOf(issue.message);
      return { code: 'invalid_type', expected: published[issue.expected] ?? issue.expected, received };
    }
    case 'too_small': {
      const { minimum, inclusive = false, origin } = issue;
      return { code: 'too_small', minimum: Number(minimum), inclusive, type: typeOf(origin) };
    }
    case 'too_big': {
      const { maximum, inclusive = false, origin } = issue;
      return { code: 'too_big', maximum: Number(maximum), inclusive, type: typeOf(origin) };
    }
    case 'invalid_format':
      return { code: 'invalid_string', validation: issue.format };
    case 'invalid_value':
      return issue.values.length === 1
        ? { code: 'invalid_literal', expected: issue.values[0] }
        : { code: 'invalid_enum_value', options: issue.values };
    case 'unrecognized_keys':
      return { code: 'unrecognized_keys', keys: issue.keys.slice(0, maxKeys) };
    case 'invalid_union':
      return { code: issue.discriminator === undefined ? 'invalid_union' : 'invalid_union_discriminator' };
    case 'not_multiple_of':
      return { code: 'not_multiple_of', multipleOf: issue.divisor };
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return { code: 'custom' };
  }
}

/** Types that have a different name in published clients. */
const published: Readonly<Record<string, string>> = { int: 'integer', record: 'object' };

const typeOf = (origin: string): string => (origin === 'int' ? 'number' : origin);

// zod reports the received type only at the end of the message.
const receivedOf = (message: string): string | undefined =>
  /received (\w+)$/.exec(message)?.[1]?.toLowerCase();

const maxNamed = 10;

/** `Validation error: <message> at "<path>"; …` */
export function validationSentence(issues: readonly Issue[]): string {
  const leaves = issues.slice(0, maxIssues).flatMap((issue) => leavesOf(issue, issue.path));
  const more = issues.length - Math.min(issues.length, maxIssues) + leaves.length - maxNamed;
  const named = leaves
    .slice(0, maxNamed)
    .map(({ message, path }) =>
      path.length === 0 ? message : `${message} at "${path.map(String).join('.')}"`,
    );
  if (more > 0) named.push(`and ${more} more`);
  return `Validation error: ${named.join('; ')}`;
}

interface Leaf {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/** A union only reports "invalid"; the actual error is reported by the alternative with the right type. */
function leavesOf(issue: Issue, path: readonly PropertyKey[]): Leaf[] {
  const alternatives: readonly Issue[][] = issue.code === 'invalid_union' ? issue.errors : [];
  const meant = alternatives.filter(
    (found) => !found.some((each) => each.code === 'invalid_type' && each.path.length === 0),
  );
  if (meant.length === 1) {
    return (meant[0] ?? []).flatMap((each) => leavesOf(each, [...path, ...each.path]));
  }
  const expected = alternatives.flatMap((found) =>
    found.flatMap((each) => (each.code === 'invalid_type' && each.path.length === 0 ? [each.expected] : [])),
  );
  return [
    {
      message: expected.length === 0 ? messageOf(issue) : `Invalid input: expected ${expected.join(' or ')}`,
      path,
    },
  ];
}
