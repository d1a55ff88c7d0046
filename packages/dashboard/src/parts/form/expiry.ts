/** The expiration of a key or token, in days. */
export const expiryOptions: readonly { readonly value: string; readonly label: string }[] = [
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: '', label: 'Never' },
];

/** The instant, or undefined for never. */
export const expiryOf = (days: string): string | undefined =>
  days === '' ? undefined : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
