import { stringify } from 'csv-stringify/sync';

export default async () => stringify([[1, 'a "b"']]);
