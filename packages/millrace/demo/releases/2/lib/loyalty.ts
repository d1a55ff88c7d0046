const tiers = { basic: { factor: 1 }, silver: { factor: 1.5 }, gold: { factor: 2 } };

export function pointsFor(tier: string, total: number): bigint {
  const { factor } = tiers[tier as keyof typeof tiers];
  return BigInt(Math.floor(total * factor));
}
