import { Effect, Schema } from 'effect';

export default async () => Effect.runPromise(Schema.decodeUnknown(Schema.NumberFromString)('1'));
