import ssh2 from 'ssh2';

export default async () => ssh2.utils.generateKeyPairSync('ed25519').public.slice(0, 11);
