/**
 * Maximum nesting depth of objects and lists in any JSON that the server stores: payloads, outputs, metadata, events and so on, sent as a value
 * or as text. Far below the depth that would overflow a reader's stack, even inside a response.
 */
export const maxJsonLevels = 1_000;

/**
 * Maximum number of members in one JSON text that the server parses: each member of an object counts as one, and so do each object, each
 * list and four items of a list. Larger payloads are uploaded as packets, which the server does not parse.
 */
export const maxJsonMembers = 50_000;

/** Escapes in strings that cost as much as a member. */
export const escapesPerMember = 16;

/** Maximum number of escapes such as `\n` in the strings of such a text. They share a limit with members: half of both is allowed. */
export const maxJsonEscapes = escapesPerMember * maxJsonMembers;
