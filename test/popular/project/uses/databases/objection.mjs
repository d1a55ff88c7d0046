import knex from 'knex';
import { Model } from 'objection';

export default async () => {
  class Mail extends Model {
    static tableName = 'mails';
  }
  return Mail.query(knex({ client: 'mysql2' }))
    .where('id', 1)
    .toKnexQuery()
    .toString();
};
