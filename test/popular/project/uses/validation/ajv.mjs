import { Ajv } from 'ajv';

export default async () => new Ajv().compile({ type: 'object', required: ['a'] })({});
