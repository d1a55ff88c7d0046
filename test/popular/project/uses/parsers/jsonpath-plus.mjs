import { JSONPath } from 'jsonpath-plus';

export default async () => JSONPath({ path: '$..b', json: { a: { b: 1 } } });
