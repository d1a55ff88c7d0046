import * as v from 'valibot';

export default async () => v.parse(v.object({ n: v.number() }), { n: 1 });
