import { createConsola } from 'consola';

export default async () => {
  const logged = [];
  const consola = createConsola({ reporters: [{ log: (entry) => logged.push(entry.args[0]) }] });
  consola.info('hello');
  return logged;
};
