/**
 * How deep objects and lists may be nested in each other in any JSON that the server stores: payloads, outputs, metadata, events and the
 * like, whether they come as a value or as text. Far from what uses up a reader's stack, also inside of a reply.
 */
export const maxJsonLevels = 1_000;
