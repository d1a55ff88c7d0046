import { hash, verify } from '@node-rs/argon2';

export default async () => verify(await hash('a'), 'a');
