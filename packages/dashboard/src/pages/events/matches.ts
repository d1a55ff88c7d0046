/**
 * Whether the name of a subscription matches that of an event: `*` is one segment, `**` at the end one or more. The server decides; this only
 * predicts which tasks may be triggered.
 *
 * @example matchesName('order.*', 'order.paid') // true
 */
export function matchesName(subscription: string, event: string): boolean {
  const wanted = subscription.split('.');
  const given = event.split('.');
  const isOpen = wanted.at(-1) === '**';
  if (isOpen ? given.length < wanted.length : given.length !== wanted.length) return false;
  return wanted.every((segment, index) => segment === '*' || segment === '**' || segment === given[index]);
}
