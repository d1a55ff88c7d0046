import QueryStream from 'pg-query-stream';

export default async () => new QueryStream('select $1::int', [1]).cursor.text;
