import { CookieJar } from 'tough-cookie';

export default async () => {
  const jar = new CookieJar();
  await jar.setCookie('a=b', 'http://example.com');
  return jar.getCookieString('http://example.com');
};
