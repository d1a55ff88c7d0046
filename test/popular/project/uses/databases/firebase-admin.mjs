import { cert, initializeApp } from 'firebase-admin/app';
import { getFirestore } from 'firebase-admin/firestore';
import { generateKeyPairSync } from 'node:crypto';

export default async () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const app = initializeApp({ credential: cert({ projectId: 'p', clientEmail: 'a@b.c', privateKey }) });
  return getFirestore(app).collection('mails').path;
};
