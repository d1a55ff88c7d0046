import lodash from 'lodash';

export default async () => lodash.groupBy([1, 2, 3], (n) => n % 2);
