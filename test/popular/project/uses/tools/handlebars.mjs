import Handlebars from 'handlebars';

export default async () => Handlebars.compile('Hello {{name}}')({ name: 'Ada' });
