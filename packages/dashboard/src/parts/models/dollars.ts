/**
 * An exact amount of US dollars, rounded for reading: whole cents, or two significant digits below a cent.
 *
 * @example
 * dollarsText('12.3456'); // '$12.35'
 * dollarsText('0.00012345'); // '$0.00012'
 */
export function dollarsText(cost: string): string {
  const dollars = Number(cost);
  if (dollars === 0) return '$0';
  if (dollars >= 0.01)
    return `$${dollars.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${dollars.toLocaleString('en', { maximumSignificantDigits: 2, maximumFractionDigits: 12 })}`;
}
