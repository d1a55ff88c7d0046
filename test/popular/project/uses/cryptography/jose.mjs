import { jwtVerify, SignJWT } from 'jose';

export default async () => {
  const secret = Buffer.alloc(32);
  const token = await new SignJWT({ a: 1 }).setProtectedHeader({ alg: 'HS256' }).sign(secret);
  return (await jwtVerify(token, secret)).payload;
};
