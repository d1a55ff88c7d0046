import { Firestore } from '@google-cloud/firestore';

/** Reads `.proto` files of the package. */
export default async () => {
  const db = new Firestore({
    projectId: 'a',
    host: '127.0.0.1:1',
    ssl: false,
    customHeaders: { Authorization: 'Bearer owner' },
  });
  return db.doc('a/b').path;
};
