import { neon } from '@neondatabase/serverless';

export default async () =>
  neon('postgres://a:b@127.0.0.1/none')`select 1`.then(
    () => 'selected',
    (error) => error.name,
  );
