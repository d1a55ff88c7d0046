/**
 * How deep objects and lists may be nested in each other in any JSON that the server stores: payloads, outputs, metadata, events and the
 * like, whether they come as a value or as text. Far from what uses up a reader's stack, also inside of a reply.
 */
export const maxJsonLevels = 1_000;

/**
 * The most members in one JSON text that the server parses: each member of an object counts as one, and so do each object, each list and
 * four items of a list. A larger payload is uploaded as a packet, which the server does not parse.
 */
export const maxJsonMembers = 50_000;

/** Escapes in strings that cost as much as a member. */
export const escapesPerMember = 16;

/** The most escapes such as `\n` in the strings of such a text. They and members share a limit: half of both is allowed. */
export const maxJsonEscapes = escapesPerMember * maxJsonMembers;
