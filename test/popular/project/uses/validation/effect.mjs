import { Effect, Schema } from 'effect';

export default async () => Effect.runPromise(Schema.decodeUnknownEffect(Schema.NumberFromString)('1'));
