const tiers = {
  basic: { factor: 1, from: 0 },
  silver: { factor: 1.5, from: 500 },
  gold: { factor: 2, from: 2_000 },
};

/** Points are big integers because the ledger uses them. */
export function pointsFor(tier: string, total: number): bigint {
  const { factor } = tiers[tier as keyof typeof tiers];
  return BigInt(total * factor);
}
