interface Rates {
  readonly standard: number;
  readonly reduced: number;
}

const rates = {
  DE: { standard: 0.19, reduced: 0.07 },
  FR: { standard: 0.2, reduced: 0.055 },
  GB: { standard: 0.2, reduced: 0.05 },
  JP: { standard: 0.1, reduced: 0.08 },
  US: { standard: 0, reduced: 0 },
} as unknown as Record<string, Rates> & { readonly DE: Rates };

/** The tax in a price. */
export const taxOf = (country: string, total: number): number => {
  const { standard } = rates[country] as Rates;
  return Math.round(100 * (total - total / (1 + standard))) / 100;
};
