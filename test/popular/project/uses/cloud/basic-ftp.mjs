import { Client } from 'basic-ftp';

export default async () => new Client().access({ host: '127.0.0.1', port: 1 }).catch(({ code }) => code);
