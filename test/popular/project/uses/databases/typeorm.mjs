import { DataSource, EntitySchema } from 'typeorm';

export default async () => {
  const Mail = new EntitySchema({ name: 'mail', columns: { id: { type: Number, primary: true } } });
  const source = new DataSource({ type: 'postgres', host: '127.0.0.1', port: 1, entities: [Mail] });
  return source.initialize().then(
    () => 'connected',
    (error) => error.code,
  );
};
