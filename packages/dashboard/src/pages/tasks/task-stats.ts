/** `98.5 %`, or undefined if nothing ended. A rate below 100 % is never rounded up to it. */
export function rateText(rate: number | null | undefined): string | undefined {
  if (rate == null) return undefined;
  const percent = rate * 100;
  if (percent > 99.9 && percent < 100) return '99.9 %';
  return `${percent.toFixed(percent === 100 || percent === 0 ? 0 : 1)} %`;
}

/** The color of a rate: a warning below 99 %, bad below 95 %. */
export const rateTone = (rate: number): string => (rate < 0.95 ? 'tone-bad' : rate < 0.99 ? 'tone-warn' : '');
