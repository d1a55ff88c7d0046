import mustache from 'mustache';

export default async () => mustache.render('Hello {{name}}', { name: 'Ada' });
