import { EntitySchema, wrap } from '@mikro-orm/core';

export default async () => {
  const schema = new EntitySchema({ name: 'Mail', properties: { id: { type: 'number', primary: true } } });
  return [schema.meta.className, typeof wrap];
};
