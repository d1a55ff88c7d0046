import { hash, verify } from '@node-rs/bcrypt';

export default async () => verify('a', await hash('a', { cost: 4 }));
