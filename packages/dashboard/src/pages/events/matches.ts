/**
 * Whether the name of a subscription matches that of an event: `*` is one segment, `**` at the end one or more. The server decides; this only
 * predicts which tasks may be triggered.
 *
 * @example matchesName('order.*', 'order.paid') // true
 */
export function matchesName(subscription: string, event: string): boolean {
  const pattern = subscription.split('.');
  const segments = event.split('.');
  const isOpen = pattern.at(-1) === '**';
  if (isOpen ? segments.length < pattern.length : segments.length !== pattern.length) return false;
  return pattern.every(
    (segment, index) => segment === '*' || segment === '**' || segment === segments[index],
  );
}
