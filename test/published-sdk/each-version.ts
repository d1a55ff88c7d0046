/** Versions that speak differently: 4.0 sends a batch in one request, 4.4 no task identifiers, 4.5 and later large payloads apart. */
export const versions: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['4.0', () => import('published-sdk-4.0')],
  ['4.4', () => import('published-sdk-4.4')],
  ['4.5', () => import('published-sdk-4.5')],
  ['4.8', () => import('@trigger.dev/sdk')],
];
