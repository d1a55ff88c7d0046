import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

export default async () => addFormats.default(new Ajv()).validate({ type: 'string', format: 'email' }, 'a@');
