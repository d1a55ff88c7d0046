import PgBoss from 'pg-boss';

export default async () => {
  const boss = new PgBoss('postgres://127.0.0.1:1/none');
  boss.on('error', () => {});
  return boss.start().then(
    () => 'started',
    (error) => error.code,
  );
};
