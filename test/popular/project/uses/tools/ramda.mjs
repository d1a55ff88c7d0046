import * as R from 'ramda';

export default async () => R.pipe(R.map(R.inc), R.sum)([1, 2]);
