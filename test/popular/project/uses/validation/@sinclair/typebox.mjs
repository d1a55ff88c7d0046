import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

export default async () => Value.Check(Type.Object({ n: Type.Number() }), { n: 1 });
