import * as openpgp from 'openpgp';

export default async () => {
  const encrypted = await openpgp.encrypt({
    message: await openpgp.createMessage({ text: 'Hello' }),
    passwords: ['a'],
  });
  const { data } = await openpgp.decrypt({
    message: await openpgp.readMessage({ armoredMessage: encrypted }),
    passwords: ['a'],
  });
  return data;
};
