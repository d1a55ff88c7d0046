import jsonata from 'jsonata';

export default async () => jsonata('$sum(a)').evaluate({ a: [1, 2] });
