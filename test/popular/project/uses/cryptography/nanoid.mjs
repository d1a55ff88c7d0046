import { nanoid } from 'nanoid';

export default async () => nanoid().length;
