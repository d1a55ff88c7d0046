import { type } from 'arktype';

export default async () => type({ n: 'number' })({ n: 1 });
