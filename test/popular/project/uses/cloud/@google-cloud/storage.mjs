import { Storage } from '@google-cloud/storage';

export default async () => new Storage({ projectId: 'a' }).bucket('b').file('c').cloudStorageURI.href;
