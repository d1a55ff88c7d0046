import Database from 'better-sqlite3';

export default async () => new Database(':memory:').prepare('select 1 + 1 as n').get().n;
