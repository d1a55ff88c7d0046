/**
 * Event names consist of segments separated by dots: `order.created`. A pattern is a name in which whole segments may be `*` (any single
 * segment), and the last one `**` (one or more).
 */
export const maxSegments = 16;
const maxCharacters = 255;

/** A subscription is invalid. The message names the invalid part and the correct form. */
export class SubscriptionRefused extends Error {
  override name = 'SubscriptionRefused';
}

/** The segments of a pattern; rejects an invalid one. */
export function parsePattern(pattern: string): readonly string[] {
  const refuse = (reason: string): never => {
    throw new SubscriptionRefused(`name ${JSON.stringify(pattern.slice(0, maxCharacters))} ${reason}`);
  };
  if (pattern === '') return refuse('is empty; use the name of an event, such as order.created or order.*');
  if (pattern.length > maxCharacters)
    return refuse(`is too long; it has at most ${maxCharacters} characters`);
  const segments = pattern.split('.');
  if (segments.length > maxSegments) return refuse(`has more than ${maxSegments} segments`);
  for (const [index, segment] of segments.entries()) {
    if (segment === '') return refuse('has an empty segment; remove the extra dot');
    if (!segment.includes('*') || segment === '*') continue;
    if (segment !== '**')
      return refuse('has a * inside a segment; a * matches a whole segment, as in order.*');
    if (index < segments.length - 1)
      return refuse('has a ** before its end; only the last segment may be **');
  }
  return segments;
}
