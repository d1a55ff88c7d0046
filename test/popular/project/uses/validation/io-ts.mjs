import * as t from 'io-ts';

export default async () => t.type({ n: t.number }).is({ n: 1 });
