import { parseFragment, serialize } from 'parse5';

export default async () => serialize(parseFragment('<p>Hello'));
