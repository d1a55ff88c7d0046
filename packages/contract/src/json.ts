/**
 * How deep objects and lists may be nested in each other in any JSON that the server stores: payloads, outputs, metadata, events and the
 * like, whether they come as a value or as text. Far from what uses up a reader's stack, also inside of a reply.
 */
export const maxJsonLevels = 1_000;

/**
 * The most members of objects and items of lists, together, in one JSON text that the server parses. A larger payload is uploaded as a
 * packet, which the server does not parse.
 */
export const maxJsonMembers = 100_000;
