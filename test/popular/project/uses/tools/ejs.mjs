import ejs from 'ejs';

export default async () => ejs.render('Hello <%= name %>', { name: 'Ada' });
