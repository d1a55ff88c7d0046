import { decodeTime, ulid } from 'ulid';

export default async () => decodeTime(ulid(1_000));
