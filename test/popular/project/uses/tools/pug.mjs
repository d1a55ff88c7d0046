import pug from 'pug';

/** Its doctype filter and runtime are found by name. */
export default async () => pug.render('p= name', { name: 'Ada' });
