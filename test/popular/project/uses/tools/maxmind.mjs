import { Reader } from 'maxmind';

export default async () => typeof Reader;
