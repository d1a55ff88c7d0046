interface Rates {
  readonly standard: number;
  readonly reduced: number;
}

const rates: Readonly<Record<string, Rates>> = {
  DE: { standard: 0.19, reduced: 0.07 },
  FR: { standard: 0.2, reduced: 0.055 },
  GB: { standard: 0.2, reduced: 0.05 },
  NO: { standard: 0.25, reduced: 0.15 },
  JP: { standard: 0.1, reduced: 0.08 },
  US: { standard: 0, reduced: 0 },
  AU: { standard: 0.1, reduced: 0 },
};

/** The tax in a price. For countries that are not listed, it is paid at the border. */
export const taxOf = (country: string, total: number): number => {
  const rate = rates[country]?.standard ?? 0;
  return Math.round(100 * (total - total / (1 + rate))) / 100;
};
