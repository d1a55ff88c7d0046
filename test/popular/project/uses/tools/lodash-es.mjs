import { groupBy } from 'lodash-es';

export default async () => groupBy([1, 2, 3], (n) => n % 2);
