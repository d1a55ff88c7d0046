/** Maximum number of characters in the name of an owner. */
export const maxOwner = 128;

/** The rule for the name of an owner, for messages. */
export const ownerRule = `must be 1 to ${maxOwner} characters without spaces, commas and control characters, such as @payments or ana@example.com`;

const ownerPattern = /^[^\s,\p{Cc}\p{Cf}\p{Cs}]+$/u;

/**
 * Whether a text can be the name of an owner: a team such as `@payments`, or an email address. It has no spaces and commas, so that several
 * owners fit into one query parameter and one line of a CODEOWNERS file.
 *
 * @example
 * isOwner('@payments'); // true
 */
export const isOwner = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= maxOwner && ownerPattern.test(text);
