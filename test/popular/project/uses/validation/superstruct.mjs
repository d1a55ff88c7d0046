import { is, number, object } from 'superstruct';

export default async () => is({ n: 1 }, object({ n: number() }));
