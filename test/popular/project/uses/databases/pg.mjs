import pg from 'pg';

export default async () => {
  const client = new pg.Client({ host: '127.0.0.1', port: 1 });
  return [
    pg.escapeLiteral("it's"),
    await client.connect().then(
      () => 'connected',
      (error) => error.code,
    ),
  ];
};
