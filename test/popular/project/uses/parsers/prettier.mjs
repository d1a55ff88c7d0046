import { format } from 'prettier';

/** Its parsers are modules that it imports when they are needed. */
export default async () => [
  await format('a  =  1', { parser: 'babel' }),
  await format('a:   1', { parser: 'yaml' }),
];
