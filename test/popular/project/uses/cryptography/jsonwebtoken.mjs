import jwt from 'jsonwebtoken';

export default async () => jwt.verify(jwt.sign({ a: 1 }, 'secret', { noTimestamp: true }), 'secret');
